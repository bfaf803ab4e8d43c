"""Tables as administrations have them, in five languages, with the roles and the unit that are right, and why.

Nothing of them is of real people: every cell is drawn from a seeded generator.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from anon_core.table import Table
from tests.properties.tables import Cell, table_of

Maker = Callable[[random.Random, int, int], Cell]
"""Makes the cell of a row: the generator, the number of the person, the number of the row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A table, the right role of each column with the reason, and the columns that tell people apart."""

    name: str
    table: Table
    roles: dict[str, str]
    unit: tuple[str, ...]


def of(*values: str) -> Maker:
    """Return a maker of what a person has of these values, the same in all rows."""
    return lambda draw, person, _: random.Random(f"{values}{person}").choice(values)


def each(*values: str) -> Maker:
    """Return a maker of what differs from row to row."""
    return lambda draw, person, row: draw.choice(values)


def number(low: int, high: int) -> Maker:
    return lambda draw, person, row: str(draw.randint(low, high))


def own(low: int, high: int) -> Maker:
    """Return a maker of a number that a person keeps."""
    return lambda draw, person, _: str(random.Random(f"{low}{high}{person}").randint(low, high))


def day(first: int, last: int) -> Maker:
    return lambda draw, person, row: f"{draw.randint(first, last)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"


def born() -> Maker:
    def make(draw: random.Random, person: int, row: int) -> Cell:
        own_draw = random.Random(f"born {person}")
        return f"{own_draw.randint(1, 28):02}/{own_draw.randint(1, 12):02}/{own_draw.randint(1930, 2008)}"

    return make


def code(form: str, step: int = 7) -> Maker:
    """Return a maker of a person's code."""
    return lambda draw, person, _: form.format(10_000 + person * step)


def running(form: str) -> Maker:
    """Return a maker of what is another one in every row."""
    return lambda draw, person, row: form.format(row)


def tax_code(letter: str = "X") -> Maker:
    def make(draw: random.Random, person: int, row: int) -> Cell:
        one = random.Random(f"cf {person}")
        letters = "".join(one.choice("BCDFGLMNPRSTVZ") for _ in range(6))
        birth = f"{one.randint(30, 99)}{one.choice('ABCDEHLMPRST')}{one.randint(10, 28)}"
        return f"{letters}{birth}H{person % 1000:03}{letter}"

    return make


def dni() -> Maker:
    return lambda draw, person, _: (
        f"{10_000_000 + person * 37}{'TRWAGMYFPDXBNJZSQVHLCKE'[(10_000_000 + person * 37) % 23]}"
    )


TOWNS = of("Aosta", "Courmayeur", "Gressan", "Sarre", "Quart", "Nus")
ORTE = of("Bonn", "Köln", "Aachen", "Siegburg", "Düren")
Column = tuple[str, str, Maker, str]


def made(name: str, people: int, mean_rows: float, unit: tuple[str, ...], *columns: Column) -> Made:
    """Make a table of so many people with so many rows each on average; one row each where the mean is 1."""
    draw = random.Random(name)
    whose = [
        p
        for p in range(people)
        for _ in range(1 if mean_rows == 1 else 1 + int(draw.expovariate(1 / (mean_rows - 0.5))))
    ]
    draw.shuffle(whose)
    rows = [tuple(make(draw, person, row) for _, _, make, _ in columns) for row, person in enumerate(whose)]
    table = table_of([header for header, *_ in columns], rows)
    return Made(name=name, table=table, roles={header: role for header, role, *_ in columns}, unit=unit)


def tables() -> list[Made]:
    return [
        made("municipal services (Italian)", 1500, 3.2, ("codice_fiscale",),
             ("codice_fiscale", "identifier", tax_code(), "names a person"),
             ("numero_pratica", "identifier", running("2026/{:06}"), "another one in every row, known to the person"),
             ("data_nascita", "quasi", born(), "others know it"),
             ("sesso", "quasi", of("F", "M"), "others know it"),
             ("comune_residenza", "quasi", TOWNS, "others know it"),
             ("servizio", "quasi", each("mensa", "asilo", "trasporto"), "others can see who uses a service"),
             ("fascia_isee", "sensitive", of("A", "B", "C", "D"), "income"),
             ("importo_dovuto", "sensitive", number(10, 900), "what a person owes")),
        made("health visits (Italian, headers say nothing)", 2000, 5, ("col_1",),
             ("col_1", "identifier", code("{}"), "the number of the person"),
             ("eta", "quasi", own(0, 95), "others know it"),
             ("sesso", "quasi", of("F", "M"), "others know it"),
             ("diagnosi", "sensitive", each("J45", "E11", "I10", "F32"), "health"),
             ("reparto_ricovero", "sensitive", each("chirurgia", "medicina", "pediatria"), "tells what a person has"),
             ("data_ricovero", "quasi", day(2025, 2026), "others know when a person was away")),
        made("school enrolment (German)", 1800, 1, (),
             ("Schülernummer", "identifier", code("{}"), "the number of the person"),
             ("Nachname", "identifier", of("Weber", "Schmidt", "Klein", "Wolf", "Koch"), "names a person"),
             ("Geburtsdatum", "quasi", born(), "others know it"),
             ("Geschlecht", "quasi", of("w", "m"), "others know it"),
             ("Schule", "quasi", of("Nordschule", "Südschule", "Weststadt"), "others know it"),
             ("Klasse", "quasi", of("1a", "1b", "2a", "2b"), "others know it"),
             ("Förderschwerpunkt", "sensitive", of("keiner", "Lernen", "Sprache"), "health"),
             ("Konfession", "sensitive", of("rk", "ev", "ohne"), "religion"),
             ("Befreiungsgrund", "sensitive", of("keiner", "Bürgergeld"), "social benefits")),
        made("tax arrears (Spanish)", 1500, 2.5, ("NIF",),
             ("NIF", "identifier", dni(), "names a person"),
             ("Nº expediente", "identifier", running("EX-{:05}"), "another one in every row, known to the person"),
             ("municipio", "quasi", of("Olot", "Berga", "Vic", "Ripoll"), "others know it"),
             ("tributo", "quasi", each("IBI", "IVTM", "tasa"), "others know who owns a house or a car"),
             ("importe_deuda", "sensitive", number(20, 9000), "what a person owes"),
             ("pagos_vencidos", "sensitive", number(0, 9), "what a person owes"),
             ("fecha_resolucion", "quasi", day(2024, 2026), "others may know it")),
        made("parking fines (English)", 1200, 2, ("number_plate",),
             ("ticket_no", "identifier", running("PCN{:07}"), "another one in every row, known to the person"),
             ("number_plate", "identifier", code("AB{} KX"), "finds the owner"),
             ("street", "quasi", each("High St", "Mill Lane", "Station Rd"), "others can see who parks where"),
             ("issued", "quasi", day(2026, 2026), "others can see who parks when"),
             ("fine_amount", "sensitive", each("35", "50", "70"), "an offence"),
             ("overdue_payment", "sensitive", each("yes", "no"), "what a person owes")),
        made("employees (French)", 900, 1, (),
             ("matricule", "identifier", code("{}"), "the number of the person"),
             ("nom", "identifier", of("Martin", "Petit", "Durand", "Leroy"), "names a person"),
             ("date_naissance", "quasi", born(), "others know it"),
             ("sexe", "quasi", of("F", "H"), "others know it"),
             ("service", "quasi", of("voirie", "école", "mairie"), "others know where a person works"),
             ("salaire", "sensitive", own(1500, 4200), "income"),
             ("syndicat", "sensitive", of("oui", "non"), "union membership"),
             ("commentaire", "drop", each("rien", "à revoir", "vu"), "free text")),
        made("social housing (French)", 1000, 1.8, ("N° allocataire",),
             ("N° allocataire", "identifier", code("{:07}"), "the number of the person"),
             ("adresse", "identifier", of("1 rue Haute", "2 rue Basse", "3 quai Sud"), "where a person lives"),
             ("commune", "quasi", of("Lille", "Lens", "Douai"), "others know it"),
             ("taille du ménage", "quasi", own(1, 7), "others can see it"),
             ("quotient familial", "sensitive", own(0, 1500), "income"),
             ("loyer impayé", "sensitive", number(0, 900), "what a person owes"),
             ("motif du refus", "sensitive", each("", "dossier", "revenus"), "why a person was refused")),
        made("library loans (German)", 700, 8, ("Leserausweis",),
             ("Leserausweis", "identifier", code("L{:06}"), "the number of the person"),
             ("Mediennummer", "identifier", running("M{:07}"), "another one in every row, known to the person"),
             ("Geburtsjahr", "quasi", own(1930, 2018), "others know it"),
             ("PLZ", "quasi", of("53111", "53113", "53115", "50667"), "others know it"),
             ("Ausleihdatum", "quasi", day(2026, 2026), "others can see who goes to the library"),
             ("Sachgebiet", "quasi", each("Roman", "Medizin", "Recht"), "others may see it"),
             ("Mahnstufe", "sensitive", each("0", "1", "2"), "what a person owes")),
        made("business register (Italian)", 1500, 1, (),
             ("ragione_sociale", "identifier", running("Ditta {:05} srl"), "may be one person's name"),
             ("partita_iva", "identifier", code("0{:05}0000{:05}"[:6] + "12345"), "goes with the name"),
             ("comune", "quasi", TOWNS, "others know it"),
             ("codice_ateco", "quasi", of("47.11", "56.10", "43.21"), "others can see it"),
             ("numero_addetti", "quasi", own(0, 40), "others can see it"),
             ("patrimonio", "sensitive", own(0, 90), "assets"),
             ("debiti", "sensitive", own(0, 90), "debts")),
        made("crime statistics (English)", 1000, 2.2, ("suspect_id",),
             ("incident_no", "identifier", running("I-{:06}"), "another one in every row"),
             ("suspect_id", "identifier", code("S{:06}"), "the number of the person"),
             ("age", "quasi", own(14, 80), "others know it"),
             ("gender", "quasi", of("f", "m"), "others know it"),
             ("ethnicity", "quasi", of("A", "B", "C", "D"), "others can see it"),
             ("district", "quasi", each("North", "South", "East"), "others may know it"),
             ("FELON", "sensitive", of("0", "1"), "an offence"),
             ("RECID", "sensitive", of("0", "1"), "an offence"),
             ("JUNKY", "sensitive", of("0", "1"), "health"),
             ("ALCHY", "sensitive", of("0", "1"), "health")),
        made("payments of grants (Spanish)", 1100, 3, ("DNI",),
             ("DNI", "identifier", dni(), "names a person"),
             ("apellidos", "identifier", of("García", "López", "Pérez", "Ruiz"), "names a person"),
             ("IBAN", "identifier", code("ES00 2100 0418 4500 000{:05}"), "an account, its check digits wrong"),
             ("municipio", "quasi", of("Olot", "Berga", "Vic"), "others know it"),
             ("programa", "quasi", each("beca", "alquiler", "comedor"), "others may know it"),
             ("importe_concedido", "sensitive", number(50, 900), "what a person gets"),
             ("fecha_pago", "quasi", day(2026, 2026), "others may know it")),
        made("insured people (German, wrong check digits)", 900, 4, ("Versichertennummer",),
             ("Versichertennummer", "identifier", code("A{:09}"), "names a person"),
             ("Steuerwert", "identifier", tax_code("A"), "a tax code under another header"),
             ("Vermögenswerte", "sensitive", own(0, 400), "assets"),
             ("Schulden", "sensitive", own(0, 300), "debts"),
             ("Pflegegrad", "sensitive", of("0", "1", "2", "3"), "health"),
             ("Wohnort", "quasi", ORTE, "others know it"),
             ("Altersgruppe", "quasi", of("0-17", "18-64", "65+"), "others know it")),
    ]  # fmt: skip


def held_out() -> list[Made]:
    """Return tables whose headers were written down before any proposal of them was seen; the lexicon knows none."""
    return [
        made("childcare places (English)", 800, 1.5, ("child_ref",),
             ("child_ref", "identifier", code("CH{:06}"), "the number of the child"),
             ("parent_surname", "identifier", of("Brown", "Jones", "Evans", "Khan"), "names a person"),
             ("child_dob", "quasi", born(), "others know it"),
             ("nursery", "quasi", of("Oak", "Elm", "Ash"), "others know it"),
             ("start_of_place", "quasi", day(2024, 2026), "others may know it"),
             ("weekly_hours", "quasi", each("15", "20", "30"), "others may know it"),
             ("SEND_support", "sensitive", of("none", "EHCP", "SEN"), "health"),
             ("household_earnings_band", "sensitive", of("1", "2", "3"), "income"),
             ("fees_outstanding", "sensitive", number(0, 800), "what a person owes")),
        made("waste charges (Italian)", 1200, 1.6, ("cod_contribuente",),
             ("cod_contribuente", "identifier", code("{}"), "the number of the person"),
             ("nominativo_utenza", "identifier", of("Rossi Mario", "Bianchi Anna", "Verdi Luca"), "names a person"),
             ("ubicazione_immobile", "identifier", running("Via Roma {}"), "where a person lives"),
             ("mq", "quasi", number(30, 200), "others may know it"),
             ("componenti", "quasi", own(1, 7), "others can see it"),
             ("tipo_utenza", "quasi", of("domestica", "non domestica"), "others can see it"),
             ("esenzione_104", "sensitive", of("si", "no"), "health"),
             ("importo_non_versato", "sensitive", number(0, 700), "what a person owes")),
        made("parking permits for residents (German)", 900, 1, (),
             ("Bewohnerausweis-Nr.", "identifier", running("BA{:05}"), "the number of the permit"),
             ("Halter/in", "identifier", of("Weber", "Koch", "Wolf"), "names a person"),
             ("Kfz.-Kz.", "identifier", code("BN-AB {}"), "finds the owner"),
             ("Parkzone", "quasi", of("A", "B", "C"), "others can see it"),
             ("Gültigkeit", "quasi", day(2026, 2027), "others can see it"),
             ("Fahrzeugart", "quasi", of("PKW", "Krad"), "others can see it"),
             ("Merkzeichen aG", "sensitive", of("ja", "nein"), "health"),
             ("Gebührenstand", "sensitive", each("offen", "bezahlt"), "what a person owes")),
        made("emergency calls (French)", 900, 1.7, ("ID_VICTIME",),
             ("NUM_INTERVENTION", "identifier", running("{:07}"), "another one in every row"),
             ("ID_VICTIME", "identifier", code("{}"), "the number of the person"),
             ("AGE_VICTIME", "quasi", own(0, 95), "others know it"),
             ("SEXE_VICTIME", "quasi", of("F", "M"), "others know it"),
             ("COMMUNE_INTER", "quasi", of("Lille", "Lens"), "others can see it"),
             ("HEURE_APPEL", "quasi", each("08:30", "12:10", "23:55"), "others may know it"),
             ("MOTIF_SORTIE", "sensitive", each("malaise", "chute", "AVP"), "health"),
             ("GRAVITE", "sensitive", each("1", "2", "3"), "health"),
             ("ALCOOLEMIE", "sensitive", each("0", "0.5", "1.2"), "health")),
        made("scholarships (Spanish)", 700, 2, ("num_solicitante",),
             ("num_solicitante", "identifier", code("{}"), "the number of the person"),
             ("cuenta_abono", "identifier", code("ES12 2100 0418 4500 000{:05}"), "an account"),
             ("centro_docente", "quasi", of("IES Norte", "IES Sur"), "others know it"),
             ("curso", "quasi", each("1", "2", "3"), "others know it"),
             ("familia_numerosa", "quasi", of("sí", "no"), "others know it"),
             ("nota_media", "sensitive", each("5", "6", "7", "8"), "a grade"),
             ("umbral_renta", "sensitive", of("1", "2", "3"), "income"),
             ("discapacidad_reconocida", "sensitive", of("sí", "no"), "health")),
    ]  # fmt: skip
