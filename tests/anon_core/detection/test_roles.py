"""Figures of a column, and the role that is proposed from its name, values and figures with the reason."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.detection.roles import ProposedRole, propose
from anon_core.detection.roles.lexicon import meaning_of, words_of
from anon_core.detection.roles.term import terms
from anon_core.measures.profile import ColumnProfile, profile, type_of
from anon_core.table import ReadOptions, read
from tests.properties.tables import Cell, table_of

TODAY = datetime.date(2026, 7, 1)


def figures(name: str, cells: list[Cell]) -> ColumnProfile:
    return profile(table_of([name], [(cell,) for cell in cells]).column(name))


def proposed(name: str, cells: list[Cell]) -> ProposedRole:
    column = table_of([name], [(cell,) for cell in cells]).column(name)
    return propose(column, profile(column), len(cells), today=TODAY)


def role(name: str, cells: list[Cell]) -> str:
    return proposed(name, cells).role


@settings(max_examples=80, deadline=None)
@given(cells=st.lists(st.sampled_from(["a", "b", "c", "1", None]), min_size=1, max_size=20))
def test_the_figures_of_a_column_are_those_of_its_cells(cells: list[Cell]) -> None:
    times = Counter(cells)
    found = figures("c", cells)
    assert found.distinct == len(times.keys() - {None})
    assert found.missing == times[None]
    assert found.unique_share == sum(n == 1 for n in times.values()) / len(cells)
    shares = [n / len(cells) for n in times.values()]
    assert found.entropy == pytest.approx(-sum(share * math.log2(share) for share in shares), abs=1e-9)


def test_a_column_without_rows_has_figures_and_a_role_too() -> None:
    empty = table_of(["c"], [("x",)]).keep(np.array([False])).column("c")
    assert profile(empty) == ColumnProfile(name="c", type="empty", distinct=0, missing=0, entropy=0, unique_share=0)
    assert propose(empty, profile(empty), 0, today=TODAY).role == "drop"


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "-2", "+30", "007"], "integer"),
        (["1", "2.5", ".5", "1e-3"], "decimal"),
        (["2019-05-15", "1900-01-01"], "date"),
        (["2019-05-15 00:00:00", "2019-05-15T10:00Z"], "timestamp"),
        (["true", "False"], "boolean"),
        (["1", "x"], "text"),
        (["2019-05-15", "unknown"], "text"),
        ([None], "empty"),
    ],
)
def test_a_type_is_what_every_value_looks_like(values: list[Cell], kind: str) -> None:
    assert type_of(pa.array(values, pa.string())) == kind


NAMED = """
identifier  id, IDs, patientId, Codice Fiscale, e-mail, eMail, EMAIL_ADDRESS, owner_name, first_name, firstname
identifier  LastName, cognome, nome, numero di telefono, indirizzo_residenza, targa, n. tessera sanitaria, matricola
identifier  P.IVA, Vorname, Nachname, Steuernummer, Sozialversicherungsnummer, Sozialversicherungsnr, Handynummer
identifier  Wohnadresse, Straße und Adresse, KFZ-Kennzeichen, Patientenvorname, prénom, nom, numero_securite_sociale
identifier  courriel, NIR, apellidos, correo electrónico, DNI, número de la Seguridad Social, dirección, IPAddress
identifier  Antragsteller, Antragsteller:in, AntragstellerIn, Antragstellerin, Antragsteller*innen, Antragsteller/-in
identifier  Steuerpflichtiger, Steuerpflichtige/r, Steuerpflichtige(r), Halter, Hundehalter, Hundehalterin, Eigentümer
identifier  Eigentuemer, Inhaber, Besitzer, Ansprechpartner, Sachbearbeiter, Erziehungsberechtigter, Vormund, Kind
identifier  Kind 1, Nutzer, Benutzer, Mieter, Schüler, Schülerinnen, Patient, Kunde, Kundin, Empfänger, Bewohner
identifier  Zahlungsempfänger, Kontoinhaber, Mitarbeiter, Bewerber, Kläger, Wohnungseigentümer, Projekt Ansprechpartner
identifier  applicant, owner, holder, beneficiary, contact, contact person, guardian, tenant, pupil, student, patient
identifier  customer, client, employee, payee, recipient, resident, claimant, user, username, dog_owner, project_owner
identifier  richiedente, intestatario, proprietario, titolare, beneficiario, referente, assistito, assistita, paziente
identifier  dipendente, utente, cliente, inquilino, alunno, alunna, numero_alunno, demandeur, demandeur(se), demandeuse
identifier  propriétaire, titulaire, bénéficiaire, allocataire, locataire, salarié, salarié(e), élève, usager, usagère
identifier  solicitante, propietario, titular, inquilina, alumno/a, paciente, empleado, usuario, contacto, interesado
identifier  nombre_alumno, nom_du_demandeur, Personalnr., Personal-Nr., Mitarbeiternummer, Mitarbeiternr, Kundennr.
identifier  Kassenzeichen, Aktenzeichen, Flurstück, Flurstücksnr., particella, mappale, parcelle cadastrale
identifier  referencia catastral, parcel_id
identifier  iban2, n° téléphone, fingerprint, health_card_number, passport no
identifier  employee_id, employee no, Personal-ID, matricule agent, numero_matricola, código empleado, person_id
identifier  Versichertennummer, n° assuré, Numéro assuré, matrícula, number plate, Kennzeichen, targa veicolo, immat
identifier  company_name, company_id, ragione_sociale, Firmenname, raison sociale, SIRET, razón social, nome_azienda
sensitive   ALCHY, JUNKY, FELON, RECID, ASSETS, DEBTS, overdue_payments, overdue payment, pagamenti_scaduti
sensitive   überfällige Zahlungen, impayés, pagos atrasados, steuerrückstand, Deliktart, tipo_infrazione, felonies
sensitive   sostegno, special_educational_needs, esito_dimissione, besoins éducatifs particuliers
quasi       anno_nascita, Birth Year, comune_residenza, sesso, zip, data_nascita, dataNascita, luogo di nascita, CAP
quasi       età, Geburtsdatum, GEBURTSDATUM, Geburtsort, PLZ, Postleitzahl, Alter, Geschlecht, Staatsangehörigkeit
quasi       Staatsangehoerigkeit, Familienstand, Beruf, Wohnort, date_de_naissance, code_postal, sexe, âge, état civil
quasi       fecha_nacimiento, fecha de nacimiento, codigo_postal, código-postal, sexo, edad, año_nacimiento, municipios
quasi       race, ethnicity, marital-status, native-country, latitude, dob, date_of_birth, dateofbirth, house number
quasi       municipality_name, id_comune, nome_comune, school_id, país, titolo di studio, height, commune
quasi       patient_age, anzahl_kinder, number_of_children, Kinderzahl, nombre_enfants, Eigentümer PLZ, Alter Halter
quasi       Hausnr., Haus-Nr., Hausnummer, house number, numero civico, número, BIC, SWIFT, Schule, school, école
quasi       scuola, Anmeldedatum, Zahlungseingang, fecha_resolucion, Eingangsdatum, Bescheiddatum, contact_date, x_utm
quasi       Rasse, Hunderasse, razza, breed, Geschlecht Hundehalter, age_tier, Geburtsdatum Hund
sensitive   punti_patente, categoria_patente, Disease, diagnosi, reddito, stipendio, religione, sindacato
sensitive   Krankenkasse, Diagnose, Krankheitsbild, Einkommen, Einkommensklasse, Konfession, Religionszugehörigkeit
sensitive   Schwerbehinderungsgrad, salaire, maladie, handicap, casier judiciaire, salud, enfermedad, sueldo, religión
sensitive   sexual_orientation, criminal_record, trade union, political_party, genotype, loan amount
sensitive   grades, reddito di cittadinanza, disease_name, diagnosis_id, capital-gain, credit_score, voto
sensitive   condanne penali, unemployment_benefit, Ermäßigung, Befreiung, Befreiungsgrund, Bruttogehalt, Gehalt, Lohn
sensitive   Jahreseinkommen, Mahnstufe, Mahnung, offene Gebühr, Gebühr offen, quotient familial, motif du refus, renta
sensitive   renta_anual, ingresos, montant accordé, Förderbetrag, importe concedido, employee_salary
other       Geschlecht Hund, Hundegeschlecht, sesso_cane, sexe du chien, perro_edad, dog_age, Alter Tier
drop        notes, Bemerkungen, observaciones, commentaire, annotazioni
"""


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        (name.strip(), line.split()[0])
        for line in NAMED.strip().splitlines()
        for name in line.split("  ", 1)[1].split(",")
    ],
)
def test_a_name_says_what_a_column_is_in_five_languages(name: str, wanted: str) -> None:
    found = proposed(name, ["x", "x", "y", "y"])
    assert (found.role, found.evidence) == (wanted, "name")
    assert found.reason.startswith("its name says that it is ")


TRAPS = (
    "wide paid validity page mean statement capacity stage usage average percentage image message management hidden "
    "video grid bidding width android covidence solid rename meaning nominal ornament tournament capture escape recap "
    "estate interstate status reality simplicity island landing report sort transport ship script hotel telescope "
    "aviation viable trace embrace Sussex unisex sextet outcome incoming inhalt alternative salter latency plate_glass "
    "automobile denied cfo genomics_lab economy urbanisation product_id file_name nome_progetto station_id "
    "course_name variable_name status_id event_id c0 x1 Имя 日本 value number client_type tipo_cliente owner_occupied "
    "student_count customer_segment numero_alunni number_of_students nombre_eleves nombre_clients kind_of_permit "
    "Schalter Urkunde outpatient Parameter holdering Mieterzahl Anzahl_Mieter Kundentyp ownership user_rating"
)


@pytest.mark.parametrize("name", TRAPS.split())
def test_a_word_inside_another_word_says_nothing(name: str) -> None:
    assert meaning_of(name) is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("CamelCaseName", ["camel", "case", "name"]),
        ("snake_case-kebab case.dot", ["snake", "case", "kebab", "case", "dot"]),
        ("IBANNumber", ["iban", "number"]),
        ("Àéîõü ß", ["aeiou", "ss"]),
        ("date_of_birth", ["date", "birth"]),
        ("address2", ["address", "2"]),
        ("", []),
        ("___", []),
        ("di", ["di"]),
    ],
)
def test_a_name_is_taken_apart_into_words(name: str, words: list[str]) -> None:
    assert list(words_of(name)) == words


def test_reasons_from_names_say_what_and_in_which_language() -> None:
    def reason(name: str) -> str:
        return proposed(name, ["x", "x", "y", "y"]).reason

    assert reason("Geburtsdatum") == "its name says that it is a date of birth (German)"
    assert reason("e_mail") == "its name says that it is an e-mail address (all languages)"
    assert reason("provincia") == "its name says that it is a region (Italian, Spanish)"
    assert "a special category of personal data" in reason("ethnicity")
    assert reason("notes").startswith("its name says that it is free text (English), and no check finds")


def test_a_reason_has_the_article_that_its_kind_is_spoken_with() -> None:
    articles = {term.kind: term.article for term in terms()}
    assert articles.pop("union membership") == "a"
    assert articles.pop("free text") == ""
    assert articles == {kind: "an" if kind[0] in "aeiouI" else "a" for kind in articles}


def test_every_kind_is_known_in_all_five_languages_but_those_that_have_one_name() -> None:
    spoken = {}
    for term in terms():
        phrases = term.phrases()
        spoken.setdefault(term.kind, set()).update(language for language in phrases if phrases[language])
    few = {kind for kind, languages in spoken.items() if len(languages) < 5}
    assert few == {"web profile", "password"}


def test_every_phrase_of_the_lexicon_says_what_it_stands_for_or_something_more_careful() -> None:
    careful = ["identifier", "drop", "sensitive", "quasi"]
    for term in terms():
        for phrases in term.phrases().values():
            for phrase in phrases:
                meaning = meaning_of(phrase)
                assert meaning, phrase
                assert careful.index(meaning.term.role) <= careful.index(term.role), phrase


@given(name=st.text(max_size=30))
@settings(max_examples=100, deadline=None)
def test_any_name_at_all_can_be_read(name: str) -> None:
    meaning = meaning_of(name)
    assert meaning is None or meaning.reason.startswith("its name says that it is ")
    assert meaning_of(" ".join(words_of(name))) == meaning, "separators make no difference"


def test_without_a_telling_name_the_figures_decide_and_in_doubt_it_is_quasi() -> None:
    assert role("c", [str(n) for n in range(100)]) == "identifier"
    assert role("c", [f"{n}.5" for n in range(100)]) == "identifier"
    assert role("diagnosi", [f"v{n}" for n in range(100)]) == "identifier", "though its name says sensitive"
    assert role("diagnosis_id", [str(n) for n in range(100)]) == "identifier", "a number, but no amount"
    assert role("data_nascita", [str(n) for n in range(100)]) == "quasi", "a telling name is a better witness"
    assert role("c", ["x"] * 100) == "other"
    assert role("c", ["x"] * 99 + [None]) == "quasi", "one value or none is two"
    assert role("c", [None] * 100) == "drop"
    assert role("c", ["x", "y"] * 50) == "quasi"
    assert role("c", ["x"]) == "other", "of a single row everything is unique"
    assert role("email", ["x"] * 100) == "identifier", "a name that says identifier is believed"
    assert role("diagnosis", ["x"] * 100) == "sensitive"


@pytest.mark.parametrize("form", ["{}", "{}.50", "{},50", "{} €", "EUR 1.{}"])
def test_an_amount_that_is_nearly_unique_is_rounded_and_not_lost(form: str) -> None:
    for name in ("reddito", "Bruttogehalt", "montant accordé", "Gebühr offen"):
        found = proposed(name, [form.format(n) for n in range(100, 200)])
        assert (found.role, found.evidence) == ("quasi", "name")
        assert found.reason.endswith("but 100 % of its values occur once, so it has to be rounded")
        assert role(name, [form.format(n) for n in (100, 200) * 50]) == "sensitive"
    assert role("reddito", [f"class {n}" for n in range(100)]) == "identifier", "words cannot be rounded"
    for name in ("loan_id", "Kredit-Nr.", "benefit code"):
        assert role(name, [str(n) for n in range(100, 200)]) == "identifier", "a number of a loan is no amount"


@pytest.mark.parametrize("cells", [["ja", "nein"], ["Yes", "no"], ["true", "false"], ["1", "2", "17"], ["X", None]])
def test_a_column_called_after_persons_may_count_them_or_say_whether_there_are_any(cells: list[Cell]) -> None:
    found = proposed("Bewohner", cells * 40)
    assert found.role == "quasi"
    assert ", but its values " in found.reason
    assert role("Bewohner_id", cells * 40) == "identifier"


def test_a_column_called_after_persons_that_holds_numbers_of_them_identifies_them() -> None:
    assert role("Kunde", ["104711", "104712"] * 40) == "identifier"
    assert role("Kunde", [str(n) for n in range(500)]) == "identifier", "each number once"
    assert role("Kunde", ["A", "B"] * 40) == "identifier"


def test_gaps_do_not_hide_that_values_are_all_different() -> None:
    assert role("c", [None] * 500 + [f"v{n}" for n in range(50)]) == "identifier"
    assert role("c", [None] * 500 + [f"v{n}" for n in range(5)]) == "quasi", "five values are too few to tell"


def test_a_reason_gives_figures_and_no_value() -> None:
    found = proposed("c", [f"CANARY-{n}" for n in range(100)])
    assert found.reason == "100 % of its values occur once"
    assert (found.evidence, found.kind) == ("statistics", None)
    assert proposed("c", [f"CANARY-{n}" for n in range(99)] + [None]).reason == "100 % of its values occur once"


CELLS = st.sampled_from(
    [
        "CANARY",
        "canary@example.org",
        "DE89370400440532013000",
        "Canary Rossi",
        "1957",
        "1957-04-12",
        "01069",
        "45.1234",
        None,
    ]
)


@given(cells=st.lists(CELLS, min_size=1, max_size=30), name=st.sampled_from(["c", "name", "birth", "income", "notes"]))
@settings(max_examples=150, deadline=None)
def test_a_role_depends_on_no_order_of_rows_and_its_reason_quotes_none(cells: list[Cell], name: str) -> None:
    found = proposed(name, cells)
    assert found == proposed(name, cells[::-1])
    assert not any(cell in found.reason for cell in cells if cell)
    assert "\n" not in found.reason


@given(cells=st.lists(CELLS, min_size=1, max_size=30))
@settings(max_examples=60, deadline=None)
def test_an_address_added_to_a_column_makes_it_an_identifier(cells: list[Cell]) -> None:
    assert role("c", [*cells, "ada@example.org"]) == "identifier", "one row of at most 31 is more than one percent"


def roles_of(path: Path) -> dict[str, str]:
    table = read(path, ReadOptions(delimiter="auto"))
    return {
        column.name: str(propose(column, profile(column), table.rows, today=TODAY).role) for column in table.columns
    }


@pytest.mark.reference
def test_roles_of_the_driver_licences(reference_data: Path) -> None:
    assert roles_of(reference_data / "driver_licences_valle_aosta.csv.gz") == {
        "id": "identifier",
        "anno_nascita": "quasi",
        "comune_residenza": "quasi",
        "provincia_residenza": "quasi",
        "regione_residenza": "quasi",
        "stato_estero_nascita": "quasi",
        "sesso": "quasi",
        "categoria_patente": "sensitive",
        "data_rilascio": "quasi",
        "abilitato_a": "quasi",
        "data_abilitazione_a": "quasi",
        "data_scadenza": "quasi",
        "stato_estero_primo_rilascio": "quasi",
        "punti_patente": "sensitive",
    }


@pytest.mark.reference
def test_roles_of_adult(reference_data: Path) -> None:
    found = roles_of(reference_data / "adult.csv.gz")
    assert {name for name, role in found.items() if role == "sensitive"} == {"income", "capital-gain", "capital-loss"}
    assert {role for name, role in found.items() if name not in ("income", "capital-gain", "capital-loss")} == {"quasi"}


@pytest.mark.reference
def test_roles_without_names_are_careful(reference_data: Path) -> None:
    assert set(roles_of(reference_data / "uccs" / "german_credit.csv").values()) == {"quasi"}
    bridges = roles_of(reference_data / "uccs" / "bridges.csv")
    assert [name for name, role in bridges.items() if role == "identifier"] == ["c0"], "its number of a bridge"


def test_values_that_speak_of_health_make_a_column_sensitive_whatever_it_is_called() -> None:
    values = ["Disabilità grave", "Affitto", "Invalidità civile", "Libri", "Mensa", "Alcolismo", "Trasporto"] * 30
    assert role("causa_dom", values) == "sensitive"
    assert role("tipo_dom", ["Affitto", "Libri", "Mensa", "Trasporto"] * 30) == "quasi"
