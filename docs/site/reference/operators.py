"""The page of the operators, from their classes."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module

from docs.site.reference.markdown import code, docstring, signature


def page() -> str:
    """Return every operator with its arguments, and the functions that make DAGs of publication files."""
    from anon_airflow import dags
    from anon_airflow.operators.publish import dataset_asset

    parts = [
        "Made from the code when this site was built. [DAGs](../dags.md) has examples. Every operator also takes what "
        "`BaseOperator` takes.",
        "## Operators",
    ]
    for one in operators():
        templated = ", ".join(map(code, one.template_fields)) or "none"
        about = inspect.getdoc(inspect.getmodule(one)) if not one.__doc__ else one.__doc__
        parts += [
            f"### {one.__name__}",
            f"`from {one.__module__} import {one.__name__}`",
            signature(one.__name__, one),
            docstring(about),
            *([] if ":param spec" in str(about) else ["- `spec`: path of the publication file."]),
            f"Templated fields: {templated}.",
        ]
    parts.append("## DAGs and assets")
    for function in (dags.publication_dags, dags.publication_dag, dataset_asset):
        name = function.__name__
        where = f"`from {function.__module__} import {name}`"
        parts += [f"### {name}", where, signature(name, function), docstring(function.__doc__)]
    return "\n\n".join(parts) + "\n"


def operators() -> Iterator[type]:
    """Yield every operator that is defined in the package of the operators, by its module; not their base."""
    from airflow.sdk import BaseOperator

    import anon_airflow.operators as package
    from anon_airflow.operators.publication import PublicationOperator

    for module in pkgutil.iter_modules(package.__path__):
        found = vars(import_module(f"{package.__name__}.{module.name}")).values()
        for one in found:
            own = inspect.isclass(one) and one.__module__ == f"{package.__name__}.{module.name}"
            if own and issubclass(one, BaseOperator) and one is not PublicationOperator:
                yield one
