"""One Airflow DAG for every publication file in ``include/publications``.

The folder ``include`` is found beside the one of this file, or through ``ANON_INCLUDE``.
"""

from __future__ import annotations

import os
from pathlib import Path

from anon_airflow.dags import publication_dags

INCLUDE = Path(os.environ.get("ANON_INCLUDE") or Path(__file__).resolve().parent.parent / "include")

globals().update(publication_dags(INCLUDE / "publications"))
