"""Common given names of five languages, accents folded; left out are those that are months, places or plain words."""

from __future__ import annotations

import re

_ENGLISH = """
james john robert michael william david richard joseph thomas charles christopher daniel matthew anthony mark donald
steven paul andrew joshua kenneth kevin brian george edward ronald timothy jason jeffrey ryan jacob gary nicholas eric
jonathan stephen larry justin scott brandon benjamin samuel gregory patrick jack oliver harry henry peter ian simon
mary patricia jennifer linda elizabeth barbara susan jessica sarah karen nancy lisa betty margaret sandra ashley
kimberly emily donna michelle carol amanda melissa deborah stephanie rebecca laura cynthia kathleen amy angela shirley
anna ruth helen alice jane emma olivia amelia sophie lucy ada mohammed muhammad ali ahmed fatima aisha omar yusuf
"""
_ITALIAN = """
giuseppe giovanni antonio mario luigi francesco angelo vincenzo pietro salvatore carlo franco domenico bruno paolo
michele giorgio aldo sergio luciano alessandro andrea marco luca matteo lorenzo davide stefano roberto riccardo
federico simone daniele fabio massimo claudio alberto enrico gianluca filippo tommaso gabriele leonardo edoardo nicola
maria anna giuseppina rosa angela giovanna teresa lucia carmela caterina francesca antonietta carla elena concetta rita
margherita franca paola laura giulia chiara sara martina federica silvia valentina alessandra elisa ilaria giorgia
sofia aurora alice emma beatrice monica simona roberta daniela patrizia cristina barbara claudia
"""
_GERMAN = """
hans peter wolfgang klaus juergen jurgen dieter manfred uwe thomas michael andreas stefan christian martin frank
juergen bernd werner heinz helmut gerhard guenter gunter horst karl josef walter rainer ralf matthias markus alexander
sebastian daniel tobias florian jan lukas leon felix max maximilian jonas paul ben noah elias moritz fabian philipp
anna maria ursula monika petra elisabeth sabine renate helga karin brigitte ingrid erika andrea gisela claudia susanne
gabriele christa christine hildegard anja birgit heike martina angelika nicole stefanie julia katharina lena laura
sarah lisa lea hannah mia emma sophie marie johanna franziska kathrin katrin erna jutta silke ute ayse mehmet mustafa
"""
_FRENCH = """
jean pierre michel andre philippe alain bernard jacques daniel patrick christian nicolas christophe laurent frederic
stephane thierry pascal eric olivier julien sebastien guillaume antoine thomas alexandre vincent louis lucas hugo
mathieu maxime francois claude rene henri gerard marcel roger paul marc luc yves gilles didier benoit romain
marie jeanne francoise monique catherine nathalie isabelle jacqueline sylvie martine anne nicole christine valerie
sandrine celine stephanie veronique sophie julie camille lea manon chloe emma aurelie caroline helene claire brigitte
chantal denise suzanne dominique patricia virginie emilie pauline mathilde louise zoe fatou karim rachid
"""
_SPANISH = """
antonio jose manuel francisco juan david javier daniel carlos jesus alejandro miguel rafael pedro pablo angel sergio
fernando jorge luis alberto alvaro diego adrian raul ivan ruben enrique ramon vicente andres joaquin santiago victor
eduardo roberto jaime mario ignacio marcos alfonso salvador ricardo emilio hugo martin lucas mateo
maria carmen ana isabel laura dolores pilar teresa josefa cristina angeles antonia francisca mercedes elena lucia paula
marta raquel rosario juana manuela beatriz rocio irene silvia julia patricia montserrat concepcion encarnacion alba
sara nuria susana margarita yolanda inmaculada sonia monica alicia esther gloria lorena sofia daniela valeria martina
"""

GIVEN_NAMES = frozenset(re.findall("[a-z]+", _ENGLISH + _ITALIAN + _GERMAN + _FRENCH + _SPANISH))
