"""Hierarchies as rules against a few lines of brute force, and against the same hierarchy written otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.errors import HierarchyError
from anon_core.hierarchy.files import levels_in

VALUES, LABELS = ("a", "b", "c", "5", "9.0"), ("P", "Q", "R", "a")
Bounds = tuple[int, int, bool, bool]


@st.composite
def rule_files(draw: st.DrawFn) -> list[tuple[int, list[str | Bounds], str]]:
    """Rules as level, left side and label: values, labels and intervals, faulty more often than not."""
    bounds = st.tuples(st.integers(0, 4), st.integers(5, 10), st.booleans(), st.booleans())
    low, rules = 0, []
    for _ in range(draw(st.integers(1, 5))):
        low += draw(st.integers(0, 1)) if low else 1
        items = draw(
            st.lists(st.one_of(st.sampled_from(VALUES), st.sampled_from(LABELS), bounds), min_size=1, max_size=3)
        )
        rules.append((low, items, draw(st.sampled_from(LABELS))))
    return rules


def spelled_out(rules: Sequence[tuple[int, list[str | Bounds], str]]) -> str:
    lines, at = [], 0
    for level, items, label in rules:
        lines += [f"level {level}"] * (level > at)
        at = level
        shown = [i if isinstance(i, str) else f"{'(['[i[2]]}{i[0]}, {i[1]}{')]'[i[3]]}" for i in items]
        lines.append(f"{{{', '.join(shown)}}} => {label}")
    return "\n".join(lines)


def holds(bounds: Bounds, number: Decimal) -> bool:
    low, high, low_closed, high_closed = bounds
    return low < number < high or (number == low and low_closed) or (number == high and high_closed)


def brute_force(rules: Sequence[tuple[int, list[str | Bounds], str]]) -> dict[str, list[str]] | None:
    """The paths of every named value and of many numbers, one level after the other; None if there is a fault."""
    made = {label for _, _, label in rules}
    numbers = {n: Decimal(n) for n in (f"{half / 2:.2f}" for half in range(-2, 24))}
    numbers |= {i: Decimal(i) for _, items, _ in rules for i in items if i in ("5", "9.0")}
    paths: dict[str, list[str]] = {n: [n] for n in numbers}
    named: set[str] = {n for n in numbers if n in ("5", "9.0")}
    seen: set[str] = set(named)
    for level in range(1, rules[-1][0] + 1):
        taken: dict[str, list[tuple[int, str, bool]]] = {}
        earlier = {label for at, _, label in rules if at < level}
        names_below = {i for at, items, _ in rules for i in items if at < level and isinstance(i, str)}
        ranges_below = [i for at, items, _ in rules for i in items if at < level and not isinstance(i, str)]
        for line, (at, items, label) in enumerate(rules):
            known = [known_below(i, earlier | names_below, ranges_below) for i in items]
            if (
                at == level > 1
                and any(known)
                and not all(known or not isinstance(i, str) for i, known in zip(items, known, strict=True))
            ):
                return None
            for item in items if at == level else ():
                if not isinstance(item, str):
                    hit = [v for v, number in numbers.items() if holds(item, number)]
                    seen |= set(hit)
                    direct = False
                else:
                    standing = [v for v in paths if v in seen and level > 1 and paths[v][-1] == item]
                    if standing:
                        if item in named and paths[item][-1] != item:
                            return None
                        hit, direct = standing, standing == [item]
                    elif item in earlier and item not in named:
                        return None
                    else:
                        paths.setdefault(item, [item] * level)
                        named.add(item)
                        seen.add(item)
                        hit, direct = [item], True
                for value in hit:
                    taken.setdefault(value, []).append((line, label, direct))
        for found in taken.values():
            for one in found:
                for other in found:
                    if one[0] != other[0] and (one[1] != other[1] or (one[2] and other[2])):
                        return None
        before = {v: path[-1] for v, path in paths.items()}
        for value, path in paths.items():
            path.append(taken[value][0][1] if value in taken else path[-1])
        if level > 1:
            for one in seen:
                for other in seen:
                    if before[one] == before[other] and paths[one][-1] != paths[other][-1]:
                        return None
    edges = {(i, label) for _, items, label in rules for i in items if isinstance(i, str) and i != label}
    for _ in made:
        edges |= {(a, d) for a, b in edges for c, d in edges if b == c}
    if any((b, a) in edges for a, b in edges if a != b) or any(a == b for a, b in edges):
        return None
    return {value: path[1:] for value, path in paths.items() if value in seen}


def known_below(item: str | Bounds, names: set[str], ranges: Sequence[Bounds]) -> bool:
    """Whether something on a left side was made, named or covered by a level below."""
    if not isinstance(item, str):
        return any(holds_both(item, other) for other in ranges)
    number = Decimal(item) if item in ("5", "9.0") else None
    return item in names or (number is not None and any(holds(other, number) for other in ranges))


@settings(max_examples=400, deadline=None)
@given(rules=rule_files())
def test_rules_mean_what_brute_force_makes_of_them(rules: list[tuple[int, list[str | Bounds], str]]) -> None:
    overlapping = any(
        one < other and a[0] == b[0] and any(holds_both(x, y) for x in a[1] for y in b[1])
        for one, a in enumerate(rules)
        for other, b in enumerate(rules)
    )
    wanted = None if overlapping else brute_force(rules)
    try:
        levels = levels_in(spelled_out(rules), "rules.txt", "rules.txt")
    except HierarchyError:
        assert wanted is None, "sound rules were refused"
        return
    assert wanted is not None, "faulty rules were taken"
    got = levels.covering(list(wanted))
    assert {value: list(got[value]) for value in wanted} == wanted


def holds_both(one: str | Bounds, other: str | Bounds) -> bool:
    """Whether two intervals share a number; their ends are whole, so a quarter step finds it."""
    if isinstance(one, str) or isinstance(other, str):
        return False
    return any(holds(one, Decimal(n) / 4) and holds(other, Decimal(n) / 4) for n in range(-4, 48))


@st.composite
def trees(draw: st.DrawFn) -> dict[str, list[str]]:
    """Paths of one length in which every label occurs on one level only."""
    values = draw(
        st.lists(st.text("abc,;{}=>\"'[]()#é-", min_size=1, max_size=4).map(str.strip), min_size=1, unique=True)
    )
    values = [value for value in values if value]
    below = {value: value for value in values}
    paths: dict[str, list[str]] = {value: [] for value in values}
    for level in range(1, draw(st.integers(1, 3)) + 1):
        above = {label: f"L{level} {draw(st.integers(0, 2))}" for label in sorted(set(below.values()))}
        below = {value: above[label] for value, label in below.items()}
        for value in values:
            paths[value].append(below[value])
    return paths


@settings(max_examples=100, deadline=None)
@given(paths=trees())
def test_one_hierarchy_is_the_same_as_lines_and_as_rules_of_every_kind(paths: dict[str, list[str]]) -> None:
    def quoted(text: str) -> str:
        return '"' + text.replace('"', '""') + '"'

    depth = len(next(iter(paths.values()), []))
    lines = "".join(";".join(map(quoted, [value, *path])) + "\n" for value, path in paths.items())
    by_values, by_labels = [], []
    for level in range(depth):
        by_values.append(f"level {level + 1}")
        for label in sorted({path[level] for path in paths.values()}):
            values = [v for v, path in paths.items() if path[level] == label]
            labels = sorted({paths[v][level - 1] for v in values}) if level else values
            by_values.append(f"{{{', '.join(map(quoted, values))}}} => {label}")
            by_labels.append(f"{{{', '.join(map(quoted, labels))} => {quoted(label)}}}")
    for text in (lines, "\n".join(by_values), "\n".join(by_labels)) if paths else ():
        assert {v: list(p) for v, p in levels_in(text, "any.txt", "any.txt").paths.items()} == paths
