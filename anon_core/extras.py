"""The extras: which packages ``pip install anonflow`` leaves out, and what to say where one is missing.

The library and the commands that work on a table need none. A package of an extra is imported inside functions only.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from anon_core.errors import MissingExtraError

EXTRAS: Mapping[str, tuple[str, ...]] = {
    "gate": ("great_expectations", "pandas", "pendulum", "rdflib", "sqlalchemy", "tenacity"),
    "airflow": ("airflow",),
    "ckan": ("httpx",),
    "plots": ("matplotlib",),
    "postgres": ("pg8000",),
}
"""Each extra with the packages that come with it, by the names that they are imported by."""


def require_extra(extra: str, what: str) -> None:
    """
    Refuse to begin what cannot be finished; nothing is imported to find out.

    :raises MissingExtraError: a package of the extra is not installed; ``what`` needs it.
    """
    if missing := tuple(name for name in EXTRAS[extra] if not _is_installed(name)):
        raise MissingExtraError(extra, missing, what)


def missing_extra(error: BaseException, what: str = "this") -> MissingExtraError | None:
    """
    Return what to say of an import that failed because an extra is not installed, which ``what`` needs.

    None for every other error: a module that is missing from a package that is there is a bug, and so is a missing
    package that no extra brings.

    >>> print(missing_extra(ModuleNotFoundError(name="httpx")))
    this needs the extra `ckan`, of which httpx is not installed: pip install 'anonflow[ckan]'
    >>> missing_extra(ModuleNotFoundError(name="httpx.unknown")), missing_extra(ModuleNotFoundError(name="numpy"))
    (None, None)
    """
    if isinstance(error, ModuleNotFoundError):
        for extra, packages in EXTRAS.items():
            if error.name in packages:
                return MissingExtraError(extra, (error.name,), what)
    return None


def _is_installed(package: str) -> bool:
    try:
        spec = find_spec(package)
    except (ModuleNotFoundError, ValueError):  # Hidden from this process.
        return False
    return spec is not None and spec.origin is not None  # A folder that happens to be called so has no origin.
