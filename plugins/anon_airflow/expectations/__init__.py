"""Our Great Expectations classes. Importing this package registers them; a suite that is loaded before loses them.

There is one expectation in each file, with its registered name. Import this package inside functions only: it takes
seconds.
"""

from anon_airflow.expectations import metrics
from anon_airflow.expectations.expect_alpha_anonymity import ExpectAlphaAnonymity
from anon_airflow.expectations.expect_common_values import ExpectCommonValues
from anon_airflow.expectations.expect_declared_types import ExpectDeclaredTypes
from anon_airflow.expectations.expect_half_of_class import ExpectHalfOfClass
from anon_airflow.expectations.expect_homogeneity import ExpectHomogeneity
from anon_airflow.expectations.expect_joint_beside_original import ExpectJointBesideOriginal
from anon_airflow.expectations.expect_joint_classes import ExpectJointClasses
from anon_airflow.expectations.expect_k_anonymity import ExpectKAnonymity
from anon_airflow.expectations.expect_k_anonymity_beside_original import ExpectKAnonymityBesideOriginal
from anon_airflow.expectations.expect_l_diversity import ExpectLDiversity
from anon_airflow.expectations.expect_max_rows_per_person import ExpectMaxRowsPerPerson
from anon_airflow.expectations.expect_no_freeform_breach import ExpectNoFreeformBreach
from anon_airflow.expectations.expect_no_published_identifier import ExpectNoPublishedIdentifier
from anon_airflow.expectations.expect_no_singletons import ExpectNoSingletons
from anon_airflow.expectations.expect_no_undeclared_column import ExpectNoUndeclaredColumn
from anon_airflow.expectations.expect_personal_patterns import ExpectPersonalPatterns
from anon_airflow.expectations.expect_published_uniqueness import ExpectPublishedUniqueness
from anon_airflow.expectations.expect_removal import ExpectRemoval
from anon_airflow.expectations.expect_restored_values import ExpectRestoredValues
from anon_airflow.expectations.expect_risk_below import ExpectRiskBelow
from anon_airflow.expectations.expect_row_sets import ExpectRowSets
from anon_airflow.expectations.expect_rows_suppressed_at_most import ExpectRowsSuppressedAtMost
from anon_airflow.expectations.expect_sensitive_alone import ExpectSensitiveAlone
from anon_airflow.expectations.expect_sensitivity_below import ExpectSensitivityBelow
from anon_airflow.expectations.expect_t_closeness import ExpectTCloseness
from anon_airflow.expectations.expect_unique_with_sensitive import ExpectUniqueWithSensitive
from anon_airflow.expectations.foreign import foreign_expectations
from anon_airflow.expectations.inputs import hierarchies_in, originals
from anon_airflow.expectations.model_expectation import ModelExpectation

OURS = {
    kind.expectation_type: kind
    for kind in (
        ExpectAlphaAnonymity,
        ExpectCommonValues,
        ExpectDeclaredTypes,
        ExpectHalfOfClass,
        ExpectHomogeneity,
        ExpectJointBesideOriginal,
        ExpectJointClasses,
        ExpectKAnonymity,
        ExpectKAnonymityBesideOriginal,
        ExpectLDiversity,
        ExpectMaxRowsPerPerson,
        ExpectNoFreeformBreach,
        ExpectNoPublishedIdentifier,
        ExpectNoSingletons,
        ExpectNoUndeclaredColumn,
        ExpectPersonalPatterns,
        ExpectPublishedUniqueness,
        ExpectRemoval,
        ExpectRestoredValues,
        ExpectRiskBelow,
        ExpectRowSets,
        ExpectRowsSuppressedAtMost,
        ExpectSensitiveAlone,
        ExpectSensitivityBelow,
        ExpectTCloseness,
        ExpectUniqueWithSensitive,
    )
}
"""Our expectations by their registered names."""


def expectations_of_models() -> dict[str, type[ModelExpectation]]:
    """Return the expectations of all privacy models, those of other packages included, by their registered names."""
    return {**foreign_expectations(), **OURS}


__all__ = [
    "OURS",
    "ExpectAlphaAnonymity",
    "ExpectCommonValues",
    "ExpectDeclaredTypes",
    "ExpectHalfOfClass",
    "ExpectHomogeneity",
    "ExpectJointBesideOriginal",
    "ExpectJointClasses",
    "ExpectKAnonymity",
    "ExpectKAnonymityBesideOriginal",
    "ExpectLDiversity",
    "ExpectMaxRowsPerPerson",
    "ExpectNoFreeformBreach",
    "ExpectNoPublishedIdentifier",
    "ExpectNoSingletons",
    "ExpectNoUndeclaredColumn",
    "ExpectPersonalPatterns",
    "ExpectPublishedUniqueness",
    "ExpectRemoval",
    "ExpectRestoredValues",
    "ExpectRiskBelow",
    "ExpectRowSets",
    "ExpectRowsSuppressedAtMost",
    "ExpectSensitiveAlone",
    "ExpectSensitivityBelow",
    "ExpectTCloseness",
    "ExpectUniqueWithSensitive",
    "expectations_of_models",
    "hierarchies_in",
    "metrics",
    "originals",
]
