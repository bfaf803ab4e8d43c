"""All minimal unique column combinations [Gong2020]_, exact and approximate.

Gong, Zhao, Li, Wang: Instance-aware Evaluation of Sensitive Columns in Tabular Dataset, 2020.
"""

from anon_core.detection.unique_columns.combinations import UniqueColumns, unique_column_combinations

__all__ = ["UniqueColumns", "unique_column_combinations"]
