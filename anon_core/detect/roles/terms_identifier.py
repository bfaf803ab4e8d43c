"""Names of columns that identify a person by themselves, and of columns that nobody can check."""

from __future__ import annotations

from collections.abc import Sequence

from anon_core.detect.roles.term import Term
from anon_core.role import Role

IDENTIFIERS: Sequence[Term] = (
    Term(
        role=Role.IDENTIFIER,
        kind="record number",
        weak=True,
        english="id, identifier, uid, uuid, guid, record number, serial number, case number, file number, case id, "
        "reference number, row number, pk",
        italian="id, identificativo, numero pratica, numero protocollo, protocollo, numero progressivo, progressivo",
        german="id, kennung, laufende nummer, lfd nr, lfdnr, vorgangsnummer, identifikationsnummer, fallnummer",
        french="id, identifiant, numero dossier, numero ordre",
        spanish="id, identificador, numero expediente, expediente",
    ),
    Term(
        role=Role.IDENTIFIER,
        kind="case number",
        english="case reference, case ref, docket number, application number",
        italian="numero fascicolo, codice pratica, numero domanda, numero istanza",
        german="aktenzeichen, kassenzeichen, geschäftszeichen, vorgangszeichen, bescheidnummer, antragsnummer, "
        "aktennummer, buchungszeichen, steuerzeichen",
        french="référence dossier, numéro demande",
        spanish="referencia expediente, número solicitud, número registro",
    ),
    Term(
        role=Role.IDENTIFIER,
        kind="land parcel",
        note=", which finds its owner",
        english="land parcel, parcel number, parcel id, cadastral reference, cadastral number, title number",
        italian="particella, particella catastale, mappale, foglio mappale, foglio particella, dati catastali",
        german="flurstück, flurstücke, flurstücksnummer, flurstückskennzeichen, flurstücknummer, flurnummer, "
        "grundbuchblatt, grundbuchnummer",
        french="parcelle, parcelle cadastrale, référence cadastrale, numéro parcelle",
        spanish="referencia catastral, parcela, parcela catastral, ref catastral",
    ),
    Term(
        role=Role.IDENTIFIER,
        kind="personal number",
        english="student number, employee number, customer number, client number, member number, membership number, "
        "patient number, registration number, enrolment number, staff number, person number, badge number",
        italian="matricola, numero tessera, numero cliente, numero iscrizione, numero socio, codice assistito, codice "
        "paziente, codice studente",
        german="personalnummer, matrikelnummer, kundennummer, mitgliedsnummer, patientennummer, schülernummer, "
        "mitarbeiternummer, personennummer, personenkennziffer, personal nr, mandantennummer, "
        "teilnehmernummer, bewerbernummer, nutzernummer",
        french="matricule, numero etudiant, numero client, numero adherent, numero patient, numero allocataire, ine, "
        "ipp",
        spanish="numero socio, numero cliente, numero afiliado, numero empleado, numero alumno, numero paciente, "
        "historia clinica, numero historia",
    ),
    Term(
        role=Role.IDENTIFIER,
        kind="personal name",
        weak=True,
        english="name",
        italian="nome, denominazione persona",
        german="name, namen",
        french="nom",
        spanish="nombre",
    ),
    Term(
        role=Role.IDENTIFIER,
        kind="personal name",
        english="first name, last name, surname, forename, given name, family name, full name, maiden name, middle "
        "name, birth name, nickname, user name, login, login name, initials, father name, mother name",
        italian="cognome, nome cognome, cognome nome, nominativo, nome utente, intestatario, nome padre, nome madre",
        german="vorname, nachname, familienname, zuname, geburtsname, rufname, benutzername, vornamen, nachnamen, "
        "spitzname",
        french="prénom, nom famille, nom naissance, nom usage, nom prénom, prénom nom, patronyme, nom jeune fille, "
        "nom utilisateur, identifiant utilisateur",
        spanish="apellido, primer apellido, segundo apellido, nombre apellido, nombre completo, nombres, nombre "
        "usuario, nombre pila",
    ),
    Term(
        role=Role.IDENTIFIER,
        kind="picture or signature",
        english="signature, photo, photograph, portrait, selfie",
        italian="foto, fotografia",
        german="unterschrift, lichtbild, foto, passbild",
        french="signature, photo, photographie",
        spanish="foto, fotografia",
    ),
    Term(
        role=Role.IDENTIFIER,
        kind="e-mail address",
        article="an",
        english="email, mail, email address, mail address, email id",
        italian="email, indirizzo email, posta elettronica, pec, mail",
        german="email, emailadresse, mailadresse, mail",
        french="email, courriel, adresse email, adresse mail, adresse électronique, mail",
        spanish="email, correo, correo electrónico, dirección correo",
    ),
    Term(
        role=Role.IDENTIFIER,
        kind="telephone number",
        english="phone, telephone, mobile, mobile number, mobile phone, cell phone, phone number, telephone number, "
        "contact number, tel, fax, fax number",
        italian="telefono, cellulare, numero telefono, numero cellulare, recapito telefonico, tel, fax",
        german="telefon, telefonnummer, handy, handynummer, mobilnummer, rufnummer, mobiltelefon, faxnummer, tel, "
        "telefax",
        french="téléphone, portable, numéro téléphone, tel, mobile, télécopie",
        spanish="teléfono, móvil, celular, número teléfono, tel, teléfono móvil",
    ),
    Term(
        role=Role.IDENTIFIER,
        kind="bank account",
        english="iban, bank account, account number, bank account number, account holder",
        italian="iban, conto corrente, numero conto, coordinate bancarie, conto bancario",
        german="iban, kontonummer, bankverbindung, kontoinhaber, bankkonto",
        french="iban, rib, compte bancaire, numéro compte",
        spanish="iban, cuenta bancaria, número cuenta, cuenta corriente",
    ),
    Term(
        role=Role.IDENTIFIER,
        kind="payment card number",
        english="credit card, card number, credit card number, debit card, payment card",
        italian="carta credito, numero carta",
        german="kreditkarte, kreditkartennummer, kartennummer",
        french="carte bancaire, carte crédit, numéro carte",
        spanish="tarjeta crédito, número tarjeta",
    ),
    Term(
        role=Role.IDENTIFIER,
        kind="tax code",
        english="tax id, tax code, tax number, taxpayer id, taxpayer number, vat number, vat id, tin",
        italian="codice fiscale, cf, cod fiscale, cod fisc, partita iva, piva",
        german="steuernummer, steuer id, steueridnr, steueridentifikationsnummer, idnr, umsatzsteuer id, ust id",
        french="numéro fiscal, identifiant fiscal, numéro tva",
        spanish="nif, cif, número identificación fiscal, código fiscal",
    ),
    Term(
        role=Role.IDENTIFIER,
        kind="identity number",
        article="an",
        english="ssn, social security, social security number, national insurance number, nino, national id, identity "
        "number, identity card, id card, id number, passport, passport number, driving licence number, driver "
        "licence number, driver license number, licence number, license number, nhs number, health card "
        "number, health insurance number, insurance number, policy number",
        italian="carta identità, numero documento, documento identità, passaporto, tessera sanitaria, numero patente, "
        "numero passaporto, codice sanitario",
        german="ausweisnummer, personalausweis, personalausweisnummer, reisepass, passnummer, "
        "sozialversicherungsnummer, svnr, sv nummer, rentenversicherungsnummer, versichertennummer, "
        "versicherungsnummer, führerscheinnummer, krankenversichertennummer, krankenversicherungsnummer",
        french="numéro sécurité sociale, sécurité sociale, numéro sécu, nir, nss, carte identité, cni, passeport, "
        "numéro passeport, numéro permis, carte vitale",
        spanish="dni, nie, documento identidad, número documento, pasaporte, número seguridad social, seguridad "
        "social, nss, nuss, tarjeta sanitaria, curp, cédula, número pasaporte",
    ),
    Term(
        role=Role.IDENTIFIER,
        kind="postal address",
        english="address, home address, street address, residential address, mailing address, postal address",
        italian="indirizzo, recapito, indirizzo residenza",
        german="adresse, anschrift, wohnadresse, postanschrift, postadresse, privatadresse",
        french="adresse, adresse postale, domicile, adresse domicile",
        spanish="dirección, domicilio, dirección postal",
    ),
    Term(
        role=Role.IDENTIFIER,
        kind="licence plate",
        english="licence plate, license plate, number plate, plate number, vin, chassis number, vehicle registration",
        italian="targa, telaio, numero telaio, targhe",
        german="kennzeichen, kfz kennzeichen, autokennzeichen, nummernschild, fahrgestellnummer, "
        "fahrzeugidentifikationsnummer",
        french="plaque immatriculation, immatriculation, plaque, numéro immatriculation",
        spanish="matrícula, placa, bastidor, número bastidor",
    ),
    Term(
        role=Role.IDENTIFIER,
        kind="IP address",
        article="an",
        english="ip, ip address, ipv4, ipv6, client ip, remote addr",
        italian="indirizzo ip",
        german="ip adresse",
        french="adresse ip",
        spanish="dirección ip",
    ),
    Term(
        role=Role.IDENTIFIER,
        kind="device number",
        english="mac address, imei, imsi, device id, cookie, cookie id, advertising id, serial no",
        italian="indirizzo mac",
        german="mac adresse, gerätenummer",
        french="adresse mac",
        spanish="dirección mac",
    ),
    Term(
        role=Role.IDENTIFIER,
        kind="web profile",
        english="profile url, linkedin, facebook, instagram, twitter, skype, telegram, whatsapp, social media, orcid, "
        "twitter handle, screen name",
    ),
    Term(
        role=Role.IDENTIFIER,
        kind="password",
        english="password, passphrase, pin code, secret key, api key",
        german="passwort, kennwort",
        french="mot de passe",
        spanish="contraseña",
    ),
    Term(
        role=Role.IDENTIFIER,
        kind="biometric feature",
        note=", which identifies by itself and is a special category of personal data",
        english="biometric, biometrics, fingerprint, retina scan, iris scan, voiceprint, face embedding, face id",
        italian="biometrico, biometria, dati biometrici, impronta digitale, impronte digitali",
        german="fingerabdruck, fingerabdrücke, biometrie, biometrisch",
        french="biométrie, biométrique, empreinte digitale, empreintes digitales",
        spanish="biometría, biométrico, huella digital, huella dactilar, huellas dactilares",
    ),
    Term(
        role=Role.DROP,
        kind="free text",
        article="",
        note=", and nobody can check what free text tells about people",
        english="note, comment, remark, free text, observations, narrative, memo",
        italian="note, commento, commenti, osservazioni, annotazioni, testo libero",
        german="bemerkung, bemerkungen, kommentar, kommentare, anmerkung, anmerkungen, notiz, notizen, freitext",
        french="commentaire, remarque, observations, texte libre",
        spanish="comentario, observaciones, texto libre",
    ),
)
