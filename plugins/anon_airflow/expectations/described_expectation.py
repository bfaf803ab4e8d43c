"""Data Docs of our expectations: what is expected and what was found, in sentences without a value.

Without this class Great Expectations would print all arguments, exceptions and observed values.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any, ClassVar

from great_expectations.expectations.expectation import BatchExpectation
from great_expectations.render.components import (
    AtomicDiagnosticRendererType,
    LegacyDiagnosticRendererType,
    LegacyRendererType,
    RenderedAtomicContent,
    RenderedStringTemplateContent,
    renderedAtomicValueSchema,
)
from great_expectations.render.renderer.renderer import renderer
from great_expectations.render.renderer_configuration import RendererConfiguration, RendererValueType

from anon_core.models.model import readable

NOT_FOUND = "not measured"
WITHHELD = "not shown in this result format"


class DescribedExpectation(BatchExpectation):
    """
    An expectation with a ``promise``: a sentence with its arguments in braces.

    The sentence may use only arguments that hold names of columns and numbers.
    """

    promise: ClassVar[str]

    @classmethod
    def described(cls, arguments: Mapping[str, Any]) -> str:
        """Return the expectation as a sentence."""
        counted = "people" if arguments.get("unit_column") else "rows"
        return readable(cls.promise, {**arguments, "counted": counted})

    @classmethod
    def _prescriptive_template(cls, renderer_configuration: RendererConfiguration[Any]) -> RendererConfiguration[Any]:
        renderer_configuration.add_param(
            name="promise", param_type=RendererValueType.STRING, value=cls.described(renderer_configuration.kwargs)
        )
        renderer_configuration.template_str = "$promise"
        return renderer_configuration

    @classmethod
    @renderer(renderer_type=LegacyRendererType.PRESCRIPTIVE)
    def _prescriptive_renderer(
        cls, configuration: Any = None, result: Any = None, runtime_configuration: dict[str, Any] | None = None
    ) -> list[RenderedStringTemplateContent]:
        configuration = configuration or (result.expectation_config if result else None)
        said = cls.described(configuration.kwargs if configuration else {})
        template = {"template": "$promise", "params": {"promise": said}}
        return [RenderedStringTemplateContent(content_block_type="string_template", string_template=template)]

    @classmethod
    @renderer(renderer_type=LegacyDiagnosticRendererType.OBSERVED_VALUE)
    def _diagnostic_observed_value_renderer(
        cls, configuration: Any = None, result: Any = None, runtime_configuration: dict[str, Any] | None = None
    ) -> str:
        return html.escape(_found(result))  # Great Expectations does not escape it.

    @classmethod
    @renderer(renderer_type=AtomicDiagnosticRendererType.OBSERVED_VALUE)
    def _atomic_diagnostic_observed_value(
        cls, configuration: Any = None, result: Any = None, runtime_configuration: dict[str, Any] | None = None
    ) -> RenderedAtomicContent:
        said = {"schema": {"type": "string"}, "value": _found(result)}
        value = renderedAtomicValueSchema.load(
            {
                "template": "$found",
                "params": {"found": said},
                "schema": {"type": "com.superconductive.rendered.string"},
            }
        )
        return RenderedAtomicContent(
            name=AtomicDiagnosticRendererType.OBSERVED_VALUE, value=value, value_type="StringValueType"
        )

    @classmethod
    @renderer(renderer_type=LegacyDiagnosticRendererType.UNEXPECTED_STATEMENT)
    def _diagnostic_unexpected_statement_renderer(
        cls, configuration: Any = None, result: Any = None, runtime_configuration: dict[str, Any] | None = None
    ) -> list[Any]:
        return []  # Great Expectations would put the text of an exception here, which may quote cells.


def _found(result: Any) -> str:
    """Return the sentence of a result. A result with an exception has none, nor one in the format BOOLEAN_ONLY."""
    if not result:
        return NOT_FOUND
    raised = (result.exception_info or {}).get("raised_exception", True)
    return str((result.result or {}).get("sentence", NOT_FOUND if raised else WITHHELD))
