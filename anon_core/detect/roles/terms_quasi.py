"""Names of columns that others may know about a person: together they single people out."""

from __future__ import annotations

from collections.abc import Sequence

from anon_core.detect.roles.term import Term
from anon_core.role import Role

QUASI_IDENTIFIERS: Sequence[Term] = (
    Term(
        role=Role.QUASI,
        kind="date of birth",
        english="date of birth, birth date, birthday, dob, birth, born",
        italian="data nascita, nascita, nato il, giorno nascita, dt nascita",
        german="geburtsdatum, geburtstag, geburt, gebdat, gebdatum, geb datum, geboren, geboren am",
        french="date naissance, naissance, né le, ddn, date naiss",
        spanish="fecha nacimiento, nacimiento, fec nac, fecha nac, fnac, fnacimiento",
    ),
    Term(
        role=Role.QUASI,
        kind="year of birth",
        english="birth year, year of birth, yob",
        italian="anno nascita",
        german="geburtsjahr, jahrgang, gebjahr",
        french="année naissance, an naissance",
        spanish="año nacimiento",
    ),
    Term(
        role=Role.QUASI,
        kind="place of birth",
        english="place of birth, birthplace, birth country, country of birth, birth city, birth town, birth state",
        italian="luogo nascita, comune nascita, stato nascita, provincia nascita, paese nascita, stato estero nascita",
        german="geburtsort, geburtsland, geburtsstaat",
        french="lieu naissance, pays naissance, commune naissance",
        spanish="lugar nacimiento, país nacimiento, municipio nacimiento, provincia nacimiento",
    ),
    Term(
        role=Role.QUASI,
        kind="date of death",
        english="date of death, death date, died",
        italian="data morte, data decesso",
        german="todesdatum, sterbedatum",
        french="date décès",
        spanish="fecha defunción, fecha fallecimiento, fecha muerte",
    ),
    Term(
        role=Role.QUASI,
        kind="age",
        article="an",
        english="age, age group, age class, age band, age range, age years",
        italian="età, fascia età, classe età",
        german="alter, altersgruppe, altersklasse, lebensalter",
        french="âge, tranche âge, classe âge",
        spanish="edad, grupo edad, tramo edad, rango edad",
    ),
    Term(
        role=Role.QUASI,
        kind="sex or gender",
        english="sex, gender",
        italian="sesso, genere",
        german="geschlecht, anrede",
        french="sexe, genre, civilité",
        spanish="sexo, género",
    ),
    Term(
        role=Role.QUASI,
        kind="postcode",
        english="zip, zip code, postcode, postal code, post code, postal",
        italian="cap, codice postale, codice avviamento postale",
        german="plz, postleitzahl",
        french="code postal, cp",
        spanish="código postal, cp, cod postal",
    ),
    Term(
        role=Role.QUASI,
        kind="place",
        english="city, town, municipality, village, district, borough, parish, county, neighbourhood, neighborhood, "
        "suburb, locality, location, place, census tract, school, school name",
        italian="comune, comuni, città, località, frazione, quartiere, circoscrizione, codice istat, sezione "
        "censimento, scuola, scuole, istituto scolastico, plesso",
        german="ort, stadt, gemeinde, gemeinden, wohnort, ortsteil, stadtteil, bezirk, kreis, landkreis, "
        "gemeindeschlüssel, gemeindekennziffer, ags, schule, schulen, grundschule, kita, kindergarten",
        french="commune, ville, localité, quartier, arrondissement, canton, code insee, iris insee, école, "
        "établissement scolaire, collège, lycée",
        spanish="municipio, ciudad, ciudades, localidad, localidades, población, barrio, distrito, comarca, pueblo, "
        "escuela, colegio, centro educativo",
    ),
    Term(
        role=Role.QUASI,
        kind="region",
        english="region, province, state, federal state, prefecture",
        italian="regione, regioni, provincia, province",
        german="bundesland, bundesländer, provinz, regierungsbezirk, kanton, region",
        french="région, département, province",
        spanish="región, provincia, comunidad autónoma, departamento, estado, ccaa",
    ),
    Term(
        role=Role.QUASI,
        kind="country",
        english="country, countries, nation, native country, country of origin",
        italian="paese, stato, stato estero, nazione, paese origine",
        german="land, staat, herkunftsland",
        french="pays, pays origine",
        spanish="país, país origen",
    ),
    Term(
        role=Role.QUASI,
        kind="nationality",
        english="nationality, nationalities, citizenship",
        italian="nazionalità, cittadinanza",
        german="staatsangehörigkeit, nationalität, staatsbürgerschaft",
        french="nationalité, citoyenneté",
        spanish="nacionalidad, ciudadanía",
    ),
    Term(
        role=Role.QUASI,
        kind="place of residence",
        english="residence, residency, domicile, place of residence",
        italian="residenza, comune residenza, provincia residenza, regione residenza",
        german="wohnsitz",
        french="résidence, lieu résidence, commune résidence",
        spanish="residencia, municipio residencia, lugar residencia",
    ),
    Term(
        role=Role.QUASI,
        kind="street",
        english="street, street name, road",
        italian="via, strada",
        german="straße, straßen, straßenname",
        french="rue, voie",
        spanish="calle, vía",
    ),
    Term(
        role=Role.QUASI,
        kind="house number",
        note=", which with the street is an address",
        english="house number, house no, house nr, building number, street number",
        italian="numero civico, civico, n civico, num civico, nr civico",
        german="hausnummer, hausnummern, haus nr, hnr, hsnr",
        french="numéro rue, numéro voie, numéro maison, numéro habitation",
        spanish="número calle, número portal, número vía, número casa",
    ),
    Term(
        role=Role.QUASI,
        kind="house number",
        note=", which with the street is an address",
        weak=True,
        spanish="número",
    ),
    Term(
        role=Role.QUASI,
        kind="bank",
        english="bic, swift, swift code, bic swift, swift bic, bank, bank name, bank code, sort code",
        italian="bic, swift, codice bic, codice swift, banca, abi, abi cab",
        german="bic, swift, bank, blz, bankleitzahl, kreditinstitut, bankname",
        french="bic, swift, code bic, code swift, banque, code banque",
        spanish="bic, swift, código bic, código swift, banco, entidad bancaria",
    ),
    Term(
        role=Role.QUASI,
        kind="breed or ethnic origin",
        note=", of a person a special category of personal data",
        english="breed, dog breed",
        italian="razza, razza canina",
        german="rasse, hunderasse, rassen",
        french="race chien, race animal",
        spanish="raza, raza canina",
    ),
    Term(
        role=Role.QUASI,
        kind="ethnic origin",
        article="an",
        note=", a special category of personal data that others can often see",
        english="race, ethnicity, ethnic, ethnic group, ethnic origin, skin colour, skin color",
        italian="etnia, origine etnica",
        german="ethnie, ethnizität, hautfarbe, migrationshintergrund, herkunft",
        french="ethnie, race, origine ethnique",
        spanish="etnia, origen étnico",
    ),
    Term(
        role=Role.QUASI,
        kind="language",
        english="mother tongue, native language, first language, spoken language",
        italian="lingua madre, madrelingua, lingua parlata",
        german="muttersprache",
        french="langue maternelle, langue parlée",
        spanish="lengua materna, idioma materno",
    ),
    Term(
        role=Role.QUASI,
        kind="marital status",
        english="marital status, marital, civil status, married, relationship status",
        italian="stato civile, coniugato",
        german="familienstand, verheiratet",
        french="état civil, situation familiale, situation matrimoniale, statut matrimonial, état matrimonial",
        spanish="estado civil, casado",
    ),
    Term(
        role=Role.QUASI,
        kind="family situation",
        english="relationship, household, household size, children, number of children, dependents, family size",
        italian="nucleo familiare, figli, numero figli, parentela, componenti famiglia, numero componenti",
        german="kinder, kinderzahl, anzahl kinder, haushalt, haushaltsgröße, familiengröße",
        french="enfants, nombre enfants, foyer, ménage, taille ménage",
        spanish="hijos, número hijos, hogar, parentesco, tamaño hogar",
    ),
    Term(
        role=Role.QUASI,
        kind="level of education",
        english="education, education level, educational level, degree, qualification, schooling, faculty, "
        "education num",
        italian="titolo studio, istruzione, laurea, corso laurea, diploma, facoltà",
        german="bildung, schulabschluss, abschluss, bildungsabschluss, studiengang, bildungsstand",
        french="niveau étude, diplôme, formation, niveau diplôme",
        spanish="educación, nivel estudio, estudios, titulación, formación",
    ),
    Term(
        role=Role.QUASI,
        kind="occupation",
        article="an",
        english="occupation, profession, job, job title, employer, work class, workclass, employment, employment "
        "status",
        italian="professione, lavoro, mestiere, occupazione, datore lavoro, qualifica, mansione, impiego",
        german="beruf, tätigkeit, arbeitgeber, berufsgruppe, beschäftigung",
        french="profession, emploi, métier, employeur, csp, catégorie socioprofessionnelle",
        spanish="profesión, ocupación, empleo, trabajo, empleador, oficio",
    ),
    Term(
        role=Role.QUASI,
        kind="coordinate",
        english="latitude, longitude, lat, lon, lng, coordinate, gps, geolocation, geo point, lat lon, lat long, lat "
        "lng, x utm, y utm, utm x, utm y, utm, utm east, utm north, easting, northing, x coord, y coord, gps position",
        italian="latitudine, longitudine, coordinate, coordinata, coordinate gps, coord x, coord y",
        german="breitengrad, längengrad, koordinaten, koordinate, geokoordinaten, rechtswert, hochwert, ostwert, "
        "nordwert, gps koordinaten",
        french="latitude, longitude, coordonnées gps, coordonnées géographiques, coordonnées",
        spanish="latitud, longitud, coordenadas, coordenada, coordenada x, coordenada y",
    ),
    Term(
        role=Role.QUASI,
        kind="date of an event",
        english="issue date, date issued, issued, admission date, discharge date, enrolment date, hire date, start "
        "date, registration date, expiry date, visit date, event date, entry date, date of admission, payment date, "
        "date received, application date, decision date",
        italian="data rilascio, rilascio, data scadenza, scadenza, data iscrizione, data ricovero, data dimissione, "
        "data assunzione, data abilitazione, data domanda, data pagamento, data protocollo, data registrazione",
        german="ausstellungsdatum, aufnahmedatum, entlassungsdatum, eintrittsdatum, austrittsdatum, "
        "einstellungsdatum, ablaufdatum, gültig bis, anmeldedatum, zahlungseingang, eingangsdatum, eingang, "
        "posteingang, antragseingang, datum, anmeldung, abmeldung, einzugsdatum, zahldatum, zahltag",
        french="date délivrance, date admission, date sortie, date entrée, date embauche, date inscription, date "
        "expiration, date demande, date décision, date paiement, date réception",
        spanish="fecha expedición, fecha ingreso, fecha alta, fecha baja, fecha caducidad, fecha inscripción, "
        "fecha resolución, fecha solicitud, fecha pago, fecha registro",
    ),
    Term(
        role=Role.QUASI,
        kind="date of an event",
        weak=True,
        english="date, timestamp, date time",
        german="zeitstempel",
        french="date, horodatage",
        spanish="fecha",
    ),
    Term(
        role=Role.QUASI,
        kind="bodily feature",
        english="height, eye colour, eye color, hair colour, hair color, body weight, shoe size",
        italian="altezza, colore occhi, colore capelli, peso corporeo",
        german="körpergröße, augenfarbe, haarfarbe, körpergewicht",
        french="couleur yeux, couleur cheveux, poids corporel",
        spanish="estatura, color ojos, color pelo, peso corporal",
    ),
)
