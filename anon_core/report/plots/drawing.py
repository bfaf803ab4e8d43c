"""What all pictures share: page, colours, how names are written, and files with the same bytes every time.

matplotlib is imported inside functions (it takes a third of a second), and never through pyplot, which keeps figures in
memory and needs a display.
"""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anon_core.errors import InvalidInputError, StorageError
from anon_core.extras import require_extra
from anon_core.wording import counted as counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind readers can tell apart too. Shapes and widths show the same again.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, RED, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
GREY, PALE = "#767676", "#C8C8C8"

_STYLE: Any = {
    "svg.hashsalt": "anonflow",  # Identifiers inside an SVG are random without it.
    "text.parse_math": False,  # A $ in the name of a column is a $.
    "font.family": "DejaVu Sans",  # It comes with matplotlib, so texts are as wide on every machine.
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E6E6E6",
    "legend.frameon": False,
    "legend.fontsize": 8,
}
_NO_BREAK = "\N{NO-BREAK SPACE}"
_METADATA: dict[str, dict[str, str | None]] = {
    ".svg": {"Date": None, "Creator": "anonflow"},
    ".png": {"Software": "anonflow"},
}


@contextmanager
def picture(path: Path | str, *, width: float, height: float) -> Iterator[Figure]:
    """
    Yield an empty figure of so many inches, and write it to the path when it has been drawn.

    :raises InvalidInputError: the path ends neither in .svg nor in .png.
    :raises MissingExtraError: matplotlib is not installed.
    :raises StorageError: the file cannot be written.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in _METADATA:
        raise InvalidInputError(
            f"a picture is written as .svg or .png, not as {path.suffix or 'a file without suffix'}"
        )
    require_extra("plots", "a picture")
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # A script that the font lacks is drawn as boxes.
        matplotlib.rcdefaults()  # The settings of the user must not change the picture.
        matplotlib.rcParams.update(_STYLE)
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        try:
            figure.savefig(path, format=kind[1:], dpi=120, metadata=_METADATA[kind])
        except OSError as error:
            raise StorageError(str(path), "drawing a picture", error.strerror or type(error).__name__) from None


def named(name: str, longest: int = 28) -> str:
    """
    Return a name as it is drawn: on one line, without control characters, cut in the middle when it is long.

    >>> named("the_number_of_people_liable_for_maintenance")
    'the_number_of…or_maintenance'
    """
    clean = "".join(letter if letter.isprintable() else " " for letter in name)
    if len(clean) <= longest:
        return clean
    head = (longest - 1) // 2
    return f"{clean[:head]}…{clean[-(longest - 1 - head) :]}"


def named_set(columns: Sequence[str], *, width: int = 56, lines: int = 2) -> str:
    """Return the names of a set on a few lines; what does not fit is counted."""
    for shown in range(len(columns), 0, -1):
        left = len(columns) - shown
        names = [named(name).replace(" ", _NO_BREAK) for name in columns[:shown]]
        text = ", ".join(names) + (f" and {left} more" if left else "")
        wrapped = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
        if len(wrapped) <= lines or shown == 1:
            return "\n".join(wrapped).replace(_NO_BREAK, " ")
    return "no columns"


def percent(part: int, whole: int) -> str:
    """
    Return a share in percent with one decimal; a share just above 0 is not written as 0%, nor one just below 1 as 100%.

    >>> percent(1, 8), percent(1, 10**6), percent(10**6 - 1, 10**6), percent(5, 5), percent(0, 0)
    ('12.5%', '<0.1%', '>99.9%', '100%', '0%')
    """
    if part in (0, whole):
        return "100%" if part else "0%"
    tenths = round(1000 * part / whole)
    if not 0 < tenths < 1000:
        return ">99.9%" if tenths else "<0.1%"
    return f"{tenths / 10:.1f}%"


def rows_downwards(axes: Axes, labels: Sequence[str]) -> None:
    """Give every row of a horizontal chart its label, the first one on top."""
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)


def write_beside(axes: Axes, text: str, end: tuple[float, float], *, gap: int = 5, size: int = 8) -> None:
    """Write a text to the right of where a bar ends."""
    axes.annotate(text, end, xytext=(gap, 0), textcoords="offset points", va="center", fontsize=size)


def legend_below(panel: Any, axes: Axes, where: str) -> None:
    """Draw the legend of a panel below it: the bars, then the lines and marks on them."""
    from matplotlib.lines import Line2D

    entries = sorted(zip(*axes.get_legend_handles_labels(), strict=True), key=lambda one: isinstance(one[0], Line2D))
    panel.legend(*zip(*entries, strict=True), loc=where, ncols=2)
