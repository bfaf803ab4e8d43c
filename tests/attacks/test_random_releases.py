"""Random tables by random policies, through whole runs: what passes is attacked in every way that should fail."""

from __future__ import annotations

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from anon_core.errors import AnonError
from tests.anon_airflow.portals.random_releases import covers
from tests.attacks.attacker import Columns, Release, Rows, publication
from tests.faults.publications import PROVINCES, TOWNS

QUASI = ("born", "town", "sex")
RELEASES, TRIED = 8, 24
COLUMNS: Columns = {
    "person": "identifier",
    "born": {"role": "quasi", "priority": 1, "hierarchy": {"intervals": [5, 10, 20]}},
    "town": {"role": "quasi", "priority": 2, "hierarchy": {"file": "towns.csv"}},
    "sex": {"role": "quasi", "priority": 3, "hierarchy": {"root": "any"}},
    "illness": "sensitive",
    "blood": "sensitive",
    "shoe": "other",
}
ILLNESS, BLOOD, SHOE = range(3, 6)


@dataclass(frozen=True)
class World:
    """A release, what its file asks for, and the source, of which attackers know what others may know of people."""

    release: Release
    source: Rows
    k: int
    l: int  # noqa: E741 - the name in the literature
    diverse: tuple[int, ...]
    alpha: float
    of_people: bool

    @property
    def joint(self) -> dict[tuple[str, ...], Counter[str]]:
        """The truth: the people behind each class of quasi-identifiers and the harmless column, and their rows."""
        return self.release.people(*QUASI, "shoe")


def source(draw: random.Random, people: int) -> Rows:
    """People with 1 to 6 rows, one blood group each, and at times another town; some rows lack their person or town."""
    found = []
    for number in range(people):
        born, town = str(draw.choice((1940, 1950, 1952, 1961, 1963, 1999))), draw.choice(TOWNS)[0]
        sex, ill, blood, shoe = draw.choice("FM"), draw.choice("abcd"), draw.choice(("0", "A", "B")), draw.choice("xxy")
        for _ in range(draw.randint(1, 6)):
            person = "" if draw.random() < 0.03 else f"P{number:04}"
            here = "" if draw.random() < 0.02 else town if draw.random() < 0.8 else draw.choice(TOWNS)[0]
            illness = ill if draw.random() < 0.7 else draw.choice("abcd")
            found.append((person, born, here, sex, illness, blood, shoe))
    draw.shuffle(found)
    return found


def one_each(rows: Rows) -> Rows:
    known = {row[0]: row for row in rows if row[0]}
    return list(known.values())


def drawn(seed: int, folder: Path) -> World | None:
    """Run a random table by a random policy; None where it is refused."""
    draw = random.Random(seed)
    people = seed % 3 > 0
    rows = source(draw, draw.randint(50, 80)) if people else one_each(source(draw, draw.randint(90, 160)))
    k, diverse, alpha = draw.randint(2, 5), 1 if seed % 3 == 2 else 2, draw.choice((1.0, 1.0, 0.9))
    asked: dict[str, Any] = {
        "l_diversity": [{"column": one, "l": diverse} for one in ("illness", "blood")[: draw.randint(1, 2)]]
    }
    spec = publication(
        folder,
        rows,
        COLUMNS,
        k=k,
        suppression_limit=draw.choice((0.2, 0.5)),
        unit="person",
        recode={"method": "prioritised", "improve": 0} if draw.random() < 0.6 else {"method": "global"},
        published_uniqueness={"max_size": 1, "max_share_alone": 1.0},
        files={"towns.csv": TOWNS},
        **(asked if diverse > 1 else {}),
        **({"alpha": [{"column": "illness", "alpha": alpha}]} if alpha < 1 else {}),
    )
    try:
        release = Release(spec)
    except AnonError:
        return None
    places = {"illness": ILLNESS, "blood": BLOOD}
    wanted = tuple(places[one["column"]] for one in asked["l_diversity"]) if diverse > 1 else ()
    return World(
        release=release, source=rows, k=k, l=diverse, diverse=wanted, alpha=alpha, of_people=bool(release.whose)
    )


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> list[World]:
    found: list[World] = []
    for seed in range(TRIED):
        if (world := drawn(seed, tmp_path_factory.mktemp(f"world{seed}"))) is not None:
            found.append(world)
        if len(found) == RELEASES:
            break
    return found


def test_there_are_worlds_of_both_kinds_or_the_others_show_nothing(worlds: list[World]) -> None:
    kinds = Counter((world.of_people, world.l > 1) for world in worlds)
    assert len(worlds) >= 8 and min(kinds[people, diverse] for people in (True, False) for diverse in (True,)) >= 2
    assert any("*" in row or "any" in row for world in worlds for row in world.release.rows)


def test_no_class_over_what_others_may_know_and_what_is_called_harmless_is_below_k(worlds: list[World]) -> None:
    for world in worlds:
        if world.of_people:
            assert set(world.joint) == set(world.release.groups(*QUASI, "shoe"))
            assert min(len(known(people)) for people in world.joint.values()) >= world.k
        else:
            assert min(world.release.groups(*QUASI, "shoe").values()) >= world.k


def known(people: Iterable[str]) -> set[str]:
    """The people behind some rows; those of nobody known are one person where there is no other."""
    return set(people) - {""} or {""}


def test_who_knows_a_person_guesses_the_row_no_better_than_promised(worlds: list[World]) -> None:
    """The class is known, and one of its rows is taken: right by one in k, or by a half where people have many rows."""
    for world in worlds:
        if not world.of_people:
            assert max(1 / size for size in world.release.groups(*QUASI).values()) <= 1 / world.k
            continue
        for people in world.release.people(*QUASI).values():
            rows = {person: times for person, times in people.items() if person}
            assert max(rows.values()) == 1 or 2 * max(rows.values()) <= sum(rows.values())


def test_no_value_is_certain_where_diversity_is_asked_for(worlds: list[World]) -> None:
    """A value is certain if everybody of a class has it, in whichever row; also l-1 values together are no cover."""
    for world in worlds:
        for at in world.diverse:
            for values in values_of_people(world, at).values():
                every = set().union(*values)
                for few in combinations(sorted(every), world.l - 1):
                    assert any(not set(few) & one for one in values), (world.l, few)


def values_of_people(world: World, at: int) -> dict[tuple[str, ...], list[set[str]]]:
    """The truth: of each class the values of a column that each of its people has."""
    found: dict[tuple[str, ...], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    whose = world.release.whose or [(row, str(number)) for number, row in enumerate(world.release.rows)]
    for row, person in whose:
        found[row[:3]][person].add(row[at])
    known_ones = {label: {one: v for one, v in of.items() if one} or dict(of) for label, of in found.items()}
    return {label: list(people.values()) for label, people in known_ones.items()}


def test_no_value_has_more_than_its_share_of_a_class(worlds: list[World]) -> None:
    for world in worlds:
        for values in values_of_people(world, ILLNESS).values():
            times = Counter(value for one in values for value in one)
            assert max(times.values()) / len(values) <= world.alpha + 1e-9


def test_the_blood_group_that_all_classes_of_a_person_have_is_not_known(worlds: list[World]) -> None:
    """Everybody has one: who knows all classes of a person intersects what is in them."""
    for world in worlds:
        if not (world.of_people and BLOOD in world.diverse):
            continue
        inside: dict[tuple[str, ...], set[str]] = defaultdict(set)
        classes: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for row, person in world.release.whose:
            inside[row[:3]].add(row[BLOOD])
            classes[person].add(row[:3])
        for person, found in classes.items():
            assert not person or len(set.intersection(*(inside[one] for one in found))) >= world.l


def test_few_people_have_sensitive_values_that_fewer_than_k_share(worlds: list[World]) -> None:
    for world in worlds:
        whose = world.release.whose or [(row, str(number)) for number, row in enumerate(world.release.rows)]
        told, rare = world.release.internal["sensitive_alone"], set()
        for columns in ((ILLNESS,), (BLOOD,), (ILLNESS, BLOOD)):
            of_value: dict[tuple[str, ...], set[str]] = defaultdict(set)
            for row, person in whose:
                of_value[tuple(row[at] for at in columns)].add(person)
            rare |= {one for people in of_value.values() if len(known(people)) < world.k for one in known(people)}
        assert len(rare - {""}) <= told["observed"] <= told["required"] <= 100


def test_nobody_is_missing_whom_k_alone_would_have_kept(worlds: list[World]) -> None:
    """Known is where everybody lives and when they were born: of no class with k people fewer rows are there."""
    for world in worlds:
        people: dict[tuple[str, ...], set[str]] = defaultdict(set)
        rows: Counter[tuple[str, ...]] = Counter()
        for person, *cells in world.source:
            people[*cells[:3], cells[SHOE]].add(person)
            rows[*cells[:3], cells[SHOE]] += 1
        published = world.release.groups(*QUASI, "shoe")
        for own, times in rows.items():
            if len(known(people[own])) >= world.k:
                fit = sum(count for label, count in published.items() if fits(label, own))
                assert fit >= times, "rows of a class that k would keep are gone"


def fits(label: tuple[str, ...], own: tuple[str, ...]) -> bool:
    three = zip(QUASI, label, own, strict=False)
    return label[3] == own[3] and all(covers(name, one or None, value or None) for name, one, value in three)


def test_a_class_that_only_some_know_is_no_smaller_by_the_provinces_that_labels_name(worlds: list[World]) -> None:
    """Also over all rows that may be a person's, of coarser labels too, there are k people."""
    assert set(PROVINCES) == {"NORTH", "SOUTH"}
    for world in worlds:
        whose = world.release.whose or [(row, str(number)) for number, row in enumerate(world.release.rows)]
        for _, *cells in world.source[:40]:
            own = (*cells[:3], cells[SHOE])
            may = {person for row, person in whose if fits((*row[:3], row[SHOE]), own)}
            assert not may or len(known(may)) >= world.k


UNTRUE = ("cannot tell which", "singles anybody out", "without singling anyone out", "no handful", "stands out")


def test_nothing_public_promises_what_was_not_measured(worlds: list[World]) -> None:
    for world in worlds:
        public = [path for path in world.release.place.parent.rglob("*") if path.suffix in (".html", ".json", ".ttl")]
        assert len(public) > 4
        for path in public:
            text = path.read_text(encoding="utf-8")
            assert not [words for words in UNTRUE if words in text], path.name
        assert "Not measured" in world.release.page and "deFinetti" in world.release.page


def test_no_digest_that_is_public_is_one_of_something_private(worlds: list[World]) -> None:
    """With all rows but one known, digests could be tried: those of the source are not there, and no other repeats."""
    import hashlib

    seen: Counter[str] = Counter()
    for world in worlds:
        folder = world.release.place.parent.parent
        private = [folder / "x.csv", folder / "people.yaml", folder / "towns.csv"]
        digests = {hashlib.sha256(path.read_bytes()).hexdigest() for path in private}
        manifest = json.loads((world.release.place / "latest/manifest.json").read_text())
        public = set(re.findall(r"\b[0-9a-f]{64}\b", json.dumps(manifest)))
        assert public and not public & digests
        seen.update({one for key, one in commitments(manifest)})
    assert seen and max(seen.values()) == 1, "a commitment with a nonce is another one in every run"


def commitments(manifest: dict[str, Any]) -> list[tuple[str, str]]:
    return [(key, str(value)) for key, value in manifest.items() if key == "site_policy"]
