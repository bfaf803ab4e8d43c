"""Our Great Expectations classes. Importing this package registers them; a suite loaded before that loses them.

One expectation per file, named as it is registered. Import it inside functions only: it costs seconds.
"""

from anon_airflow.expectations import metrics
from anon_airflow.expectations.expect_k_anonymity import ExpectKAnonymity
from anon_airflow.expectations.expect_no_freeform_breach import ExpectNoFreeformBreach
from anon_airflow.expectations.expect_no_published_identifier import ExpectNoPublishedIdentifier
from anon_airflow.expectations.expect_no_singletons import ExpectNoSingletons
from anon_airflow.expectations.expect_no_undeclared_column import ExpectNoUndeclaredColumn
from anon_airflow.expectations.expect_published_uniqueness import ExpectPublishedUniqueness
from anon_airflow.expectations.expect_rows_suppressed_at_most import ExpectRowsSuppressedAtMost

OURS = {
    kind.expectation_type: kind
    for kind in (
        ExpectKAnonymity,
        ExpectNoFreeformBreach,
        ExpectNoPublishedIdentifier,
        ExpectNoSingletons,
        ExpectNoUndeclaredColumn,
        ExpectPublishedUniqueness,
        ExpectRowsSuppressedAtMost,
    )
}
"""Our expectations by the name they are registered under."""

__all__ = [
    "OURS",
    "ExpectKAnonymity",
    "ExpectNoFreeformBreach",
    "ExpectNoPublishedIdentifier",
    "ExpectNoSingletons",
    "ExpectNoUndeclaredColumn",
    "ExpectPublishedUniqueness",
    "ExpectRowsSuppressedAtMost",
    "metrics",
]
