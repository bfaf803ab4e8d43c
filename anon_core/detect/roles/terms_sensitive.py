"""Names of columns that a person may want to keep private: Articles 9 and 10 of the GDPR, money and grades.

Two categories of Article 9 stand elsewhere: an ethnic origin is a quasi-identifier, because others often see it, and a
biometric feature is an identifier, because it is one.
"""

from __future__ import annotations

from collections.abc import Sequence

from anon_core.detect.roles.term import Term
from anon_core.role import Role

SENSITIVE: Sequence[Term] = (
    Term(
        role=Role.SENSITIVE,
        kind="matter of health",
        english="health, health status, disease, illness, diagnosis, diagnoses, icd, icd9, icd10, symptom, treatment, "
        "therapy, medication, drug, prescription, surgery, allergy, disability, disabilities, disabled, "
        "handicap, pregnancy, pregnant, blood type, blood group, blood pressure, bmi, hiv, covid, "
        "vaccination, vaccine, vaccinated, mental health, cause of death, smoker, smoking, alcohol, "
        "addiction, sick leave, comorbidity",
        italian="salute, malattia, malattie, patologia, patologie, diagnosi, sintomo, sintomi, terapia, cura, "
        "farmaco, farmaci, ricovero, disabilità, invalidità, handicap, gravidanza, gruppo sanguigno, "
        "allergia, allergie, vaccino, vaccinazione, causa morte, causa decesso, esenzione, fumatore",
        german="gesundheit, krankheit, krankheiten, diagnose, diagnosen, symptom, symptome, therapie, behandlung, "
        "medikament, medikamente, medikation, behinderung, behinderungsgrad, grad der behinderung, gdb, "
        "schwerbehinderung, schwerbehindert, pflegegrad, pflegestufe, schwangerschaft, schwanger, blutgruppe, "
        "impfung, impfstatus, todesursache, krankenkasse, krankenstand, krankenversicherung, allergie, "
        "raucher, gesundheitszustand",
        french="santé, maladie, diagnostic, pathologie, symptôme, traitement, médicament, handicap, invalidité, "
        "grossesse, groupe sanguin, vaccin, vaccination, cause décès, ald, allergie, fumeur, arrêt maladie, "
        "état santé",
        spanish="salud, enfermedad, enfermedades, diagnóstico, patología, síntoma, tratamiento, medicamento, "
        "discapacidad, minusvalía, incapacidad, embarazo, grupo sanguíneo, vacuna, vacunación, causa muerte, "
        "causa defunción, alergia, fumador, baja médica, estado salud",
    ),
    Term(
        role=Role.SENSITIVE,
        kind="religion",
        english="religion, religious, religious affiliation, faith, denomination, church",
        italian="religione, culto, confessione, confessione religiosa",
        german="religion, religionszugehörigkeit, konfession, kirche, glaube, kirchensteuer",
        french="religion, culte, confession",
        spanish="religión, confesión, culto, creencia religiosa",
    ),
    Term(
        role=Role.SENSITIVE,
        kind="political opinion",
        english="political, politics, political party, party membership, political opinion, voted, voting intention",
        italian="partito, orientamento politico, partito politico, opinione politica",
        german="partei, parteizugehörigkeit, politische meinung, wahlverhalten",
        french="parti politique, opinion politique, intention vote",
        spanish="partido, partido político, opinión política, ideología, intención voto",
    ),
    Term(
        role=Role.SENSITIVE,
        kind="union membership",
        english="trade union, labour union, labor union, union member, union membership",
        italian="sindacato, iscrizione sindacale",
        german="gewerkschaft, gewerkschaftszugehörigkeit",
        french="syndicat, appartenance syndicale",
        spanish="sindicato, afiliación sindical",
    ),
    Term(
        role=Role.SENSITIVE,
        kind="matter of sexual life",
        english="sexual orientation, sexuality, sexual, sex life, gender identity, sexual partners",
        italian="orientamento sessuale, vita sessuale, identità genere",
        german="sexuelle orientierung, sexualität, sexualleben",
        french="orientation sexuelle, vie sexuelle, identité genre",
        spanish="orientación sexual, vida sexual, identidad género",
    ),
    Term(
        role=Role.SENSITIVE,
        kind="genetic feature",
        english="gene, genetic, genetics, genome, genotype, dna, mutation, snp",
        italian="genetico, genetica, genoma, genotipo, dna",
        german="genetik, genetisch, genom, erbgut, dns, genmutation",
        french="génétique, génome, génotype, adn",
        spanish="genético, genética, genoma, genotipo, adn",
    ),
    Term(
        role=Role.SENSITIVE,
        kind="offence or penalty",
        article="an",
        english="crime, offence, offense, conviction, convicted, criminal record, criminal, arrest, arrested, "
        "sanction, penalty, penalties, violation, prison, police record, probation, recidivism",
        italian="reato, reati, condanna, condanne, precedenti penali, casellario, sanzione, sanzioni, multa, multe, "
        "infrazione, infrazioni, pena",
        german="straftat, straftaten, verurteilung, vorstrafe, vorstrafen, delikt, delikte, haft, bußgeld, "
        "führungszeugnis, ordnungswidrigkeit",
        french="infraction, délit, condamnation, casier judiciaire, amende, sanction, peine",
        spanish="delito, condena, antecedentes penales, antecedentes, sanción, sanciones, infracción, infracciones, "
        "multa, pena",
    ),
    Term(
        role=Role.SENSITIVE,
        kind="detail of a driving licence",
        english="licence category, license category, licence class, license class, licence points, license points, "
        "penalty points",
        italian="categoria patente, punti patente, patente categoria, patente punti",
        german="führerscheinklasse, fahrerlaubnisklasse, punktestand",
        french="catégorie permis, points permis",
        spanish="clase permiso, categoría permiso, puntos carnet, puntos permiso",
    ),
    Term(
        role=Role.SENSITIVE,
        kind="income",
        article="an",
        english="income, salary, salaries, salary class, wage, earnings, net worth, wealth, capital gain, capital "
        "loss, household income, remuneration, pension, gross pay, net pay, gross "
        "salary, net salary, annual income, annual salary",
        italian="reddito, redditi, stipendio, stipendi, salario, retribuzione, isee, patrimonio, pensione, reddito "
        "annuo, valore isee",
        german="einkommen, gehalt, lohn, bruttolohn, nettolohn, verdienst, vermögen, rente, bruttogehalt, nettogehalt, "
        "jahresgehalt, monatsgehalt, grundgehalt, jahreseinkommen, monatseinkommen, bruttoeinkommen, nettoeinkommen, "
        "familieneinkommen, haushaltseinkommen, arbeitslohn, stundenlohn, jahreslohn, monatslohn, bezüge, besoldung",
        french="revenu, salaire, rémunération, patrimoine, retraite, pension, quotient familial, revenu "
        "fiscal, revenu annuel, salaire brut, salaire net",
        spanish="ingresos, salario, sueldo, renta, patrimonio, nómina, pensión, renta anual, ingreso "
        "anual, salario bruto, ingresos anuales",
    ),
    Term(
        role=Role.SENSITIVE,
        kind="debt",
        english="debt, loan, loan amount, mortgage, credit score, credit rating, credit amount, credit history, "
        "overdraft, arrears, insolvency, bankruptcy, dunning level, reminder level, outstanding fee, "
        "amount due, unpaid fee, outstanding amount",
        italian="debito, debiti, mutuo, prestito, prestiti, insolvenza, pignoramento, sollecito, solleciti, morosità, "
        "importo dovuto, insoluto",
        german="schulden, kredit, kredite, kreditbetrag, darlehen, insolvenz, schufa, verschuldung, mahnstufe, "
        "mahnung, mahnungen, mahnstatus, offene gebühr, offene gebühren, gebühr offen, gebühren offen, rückstand, "
        "zahlungsrückstand, offener betrag, betrag offen, offene forderung, vollstreckung, pfändung",
        french="dette, emprunt, prêt, surendettement, hypothèque, impayé, relance, solde dû, montant dû",
        spanish="deuda, hipoteca, préstamo, morosidad, insolvencia, impago, apremio, importe pendiente, embargo",
    ),
    Term(
        role=Role.SENSITIVE,
        kind="social benefit",
        english="benefit, social benefit, welfare, social assistance, allowance, unemployment, unemployment benefit, "
        "unemployed, subsidy, subsidies, housing benefit, food stamps",
        italian="sussidio, sussidi, reddito cittadinanza, assegno sociale, indennità, disoccupazione, contributo "
        "economico",
        german="sozialhilfe, bürgergeld, wohngeld, arbeitslosengeld, grundsicherung, kindergeld, sozialleistung, "
        "sozialleistungen, arbeitslos",
        french="rsa, allocation familiale, aide sociale, apl, chômage, prestation sociale, minima sociaux",
        spanish="subsidio, ayuda social, prestación, prestaciones, desempleo, subvención, paro, renta mínima",
    ),
    Term(
        role=Role.SENSITIVE,
        kind="amount granted",
        article="an",
        english="amount granted, granted amount, grant amount, amount awarded, award amount, aid amount",
        italian="importo concesso, contributo concesso, importo erogato, importo contributo, contributo erogato",
        german="förderbetrag, fördersumme, förderhöhe, bewilligungsbetrag, bewilligter betrag, zuschuss, "
        "zuschussbetrag, bewilligte summe, zuwendung, zuwendungsbetrag, leistungsbetrag",
        french="montant accordé, montant aide, montant octroyé, montant attribué, subvention accordée, aide accordée",
        spanish="importe concedido, importe ayuda, cuantía concedida, importe subvención, ayuda concedida",
    ),
    Term(
        role=Role.SENSITIVE,
        kind="reduction or exemption",
        english="fee reduction, fee waiver, exemption, exemption reason, reason for exemption, fee exemption",
        italian="agevolazione, agevolazioni, riduzione tariffa, motivo esenzione, motivo riduzione, esonero",
        german="ermäßigung, ermäßigungen, ermäßigungsgrund, befreiung, befreiungsgrund, gebührenbefreiung, "
        "gebührenermäßigung, beitragsbefreiung, steuerbefreiung, grund der ermäßigung, grund der befreiung",
        french="exonération, motif exonération, réduction tarif, tarif réduit, dispense",
        spanish="exención, exenciones, motivo exención, bonificación, bonificaciones, tarifa reducida",
    ),
    Term(
        role=Role.SENSITIVE,
        kind="reason for a refusal",
        english="refusal reason, reason for refusal, rejection reason, reason for rejection, denial reason",
        italian="motivo rifiuto, motivo diniego, motivo rigetto, motivazione diniego",
        german="ablehnungsgrund, ablehnungsgründe, grund der ablehnung, versagungsgrund",
        french="motif refus, motif rejet, raison refus",
        spanish="motivo denegación, motivo rechazo, causa denegación, motivo desestimación",
    ),
    Term(
        role=Role.SENSITIVE,
        kind="grade",
        english="grade, exam result, exam score, test score, test result, gpa, marks, school report",
        italian="voto, voti, esito esame, votazione, voto laurea, giudizio, pagella",
        german="noten, zeugnis, abschlussnote, abiturnote, gesamtnote, prüfungsnote, schulnote",
        french="note finale, note examen, moyenne générale, bulletin scolaire",
        spanish="nota, calificación, calificaciones, nota media, nota final",
    ),
)
