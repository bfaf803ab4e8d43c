"""Nouns for persons: a column called after them holds their names or numbers.

The nouns are weak, as `id` and `name` are: they decide only where no other word of the name says something else. The
words that turn a person into a count or an attribute stand here too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from anon_core.detect.roles.term import Term
from anon_core.role import Role

_ENGLISH = (
    "applicant, co applicant, owner, holder, keeper, dog owner, beneficiary, beneficiaries, contact, contact person, "
    "guardian, legal guardian, next of kin, tenant, lessee, landlord, pupil, student, patient, customer, client, "
    "employee, payee, payer, recipient, resident, claimant, complainant, plaintiff, defendant, user, taxpayer, "
    "subscriber, caseworker, case worker, policyholder, licensee, child, spouse, person"
)
_GERMAN = (
    "antragsteller, halter, hundehalter, tierhalter, katzenhalter, pferdehalter, fahrzeughalter, kfzhalter, "
    "eigentümer, miteigentümer, inhaber, kontoinhaber, besitzer, ansprechpartner, sachbearbeiter, bearbeiter, "
    "betreuer, nutzer, benutzer, mieter, vermieter, schüler, empfänger, zahlungsempfänger, leistungsempfänger, "
    "bewohner, mitarbeiter, bewerber, kläger, käufer, verkäufer, pächter, beschwerdeführer, arbeitnehmer, "
    "schuldner, gläubiger"
)
_GERMAN_ADJECTIVES = (
    "steuerpflichtige, abgabepflichtige, gebührenpflichtige, zahlungspflichtige, erziehungsberechtigte, "
    "sorgeberechtigte, personensorgeberechtigte, leistungsberechtigte, anspruchsberechtigte, bevollmächtigte, "
    "beschäftigte, angestellte, versicherte, beklagte, studierende, antragstellende, betroffene, alleinerziehende, "
    "angehörige"
)
_GERMAN_OTHERS = (
    "vormund, vormünder, vormundin, kind, kunde, kunden, kundin, kundinnen, klient, klienten, klientin, patient, "
    "patienten, patientin, patientinnen, student, studenten, studentin, studentinnen, petent, petenten, petentin, "
    "kontaktperson, ansprechperson, person, schuldnerin, ehegatte, ehegattin, ehepartner"
)
_ITALIAN = (
    "richiedent~ei, intestatar~ioai, cointestatar~ioai, proprietari~oa, proprietar~ie, comproprietari~oa, titolar~ei, "
    "beneficiari~oa, beneficiar~ie, referent~ei, assistit~oaie, pazient~ei, dipendent~ei, utent~ei, client~ei, "
    "inquilin~oaie, alunn~oaie, student~ei, studentess~ae, impiegat~oaie, contribuent~ei, locatari~oa, conduttor~ei, "
    "detentor~ei, istant~ei, tutor~ei, residente, iscritt~oaie, candidat~oaie, ricorrent~ei, contatto, minore, "
    "figli~oa, coniuge, persona"
)
_FRENCH = (
    "demandeur, demandeuse, demanderesse, propriétaire, copropriétaire, titulaire, bénéficiaire, allocataire, "
    "locataire, bailleur, patient, patiente, salarié, salariée, employé, employée, élève, étudiant, étudiante, usager, "
    "usagère, contact, personne contact, interlocuteur, interlocutrice, tuteur, tutrice, représentant légal, client, "
    "cliente, utilisateur, utilisatrice, détenteur, détentrice, contribuable, requérant, requérante, plaignant, "
    "plaignante, destinataire, résident, résidente, candidat, candidate, assuré, assurée, adhérent, adhérente, enfant, "
    "conjoint, conjointe, personne"
)
_SPANISH = (
    "solicitante, propietari~oa, titular, titulares, beneficiari~oa, inquilin~oa, arrendatari~oa, alumn~oa, paciente, "
    "emplead~oa, usuari~oa, contacto, persona contacto, interesad~oa, cliente, estudiante, tutor, tutora, tutores, "
    "destinatari~oa, contribuyente, demandante, reclamante, trabajador, trabajadora, candidat~oa, residente, dueñ~oa, "
    "asegurad~oa, hij~oa, cónyuge, persona, representante legal"
)


def _endings(nouns: str) -> str:
    """
    Return nouns with each of their endings, which are the letters after the wave.

    >>> _endings("alunn~oa, minore")
    'alunno, alunna, minore'
    """
    taken_apart = [noun.strip().partition("~") for noun in nouns.split(",")]
    return ", ".join(f"{stem}{ending}" for stem, _, endings in taken_apart for ending in endings or [""])


def _declined(nouns: str, endings: Sequence[str]) -> str:
    return ", ".join(f"{noun.strip()}{ending}" for noun in nouns.split(",") for ending in endings)


PERSONS: Sequence[Term] = (
    Term(
        role=Role.IDENTIFIER,
        kind="person",
        weak=True,
        english=_ENGLISH,
        italian=_endings(_ITALIAN),
        german=", ".join(
            [
                _declined(_GERMAN, ["", "in", "innen", "n", "s"]),
                _declined(_GERMAN_ADJECTIVES, ["", "r", "n", "m"]),
                _GERMAN_OTHERS,
            ]
        ),
        french=_FRENCH,
        spanish=_endings(_SPANISH),
    ),
)

ONLY_ALONE = frozenset({"kind", "minore"})
"""Nouns that mean something else beside other words: `kind_of_permit` is no child."""

NUMBERS = frozenset({"number", "no", "nr", "num", "numero", "n", "nombre", "nb"})
"""Words that make a count of several persons, but the number of a single one: `numero_alunni`, `numero_alunno`."""

ATTRIBUTES = frozenset(
    re.findall(
        "[a-z]+",
        """
        count counts total sum amount share rate ratio percent percentage average mean median score rating level rank
        type types category segment class group cohort status state stage flag occupied occupancy satisfaction
        since until from date time year month day duration hours days visits volume value price cost fee size length
        age sex gender channel method mode agent interface experience story source language version role per density
        numbers quantity qty consent share shares ownership served affected present absent
        anzahl zahl summe anteil quote typ art klasse gruppe segment stufe kategorie merkmal seit bis ab von datum
        zeit jahr monat dauer wert preis kosten groesse grosse zufriedenheit rolle pro je durchschnitt bestand
        conteggio totale somma quota percentuale media tipo tipologia categoria segmento classe gruppo stato fascia
        livello dal fino anno mese durata valore prezzo costo soddisfazione canale ruolo per presenti assenti quantita
        effectif total somme part taux pourcentage moyenne type categorie segment classe groupe statut tranche niveau
        depuis annee mois duree valeur prix cout satisfaction canal role par nb quantite
        recuento cantidad suma cuota tasa porcentaje promedio tipo categoria segmento clase grupo estado tramo nivel
        desde hasta fecha mes duracion valor precio coste satisfaccion canal rol por ano
        """,
    )
)
"""Words beside which a noun for persons names no one: `client_type`, `owner_occupied`, `student_count`."""
