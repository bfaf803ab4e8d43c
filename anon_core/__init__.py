"""The statistics of anonflow: what singles people out, how to recode it, what was reached.

It knows nothing of Airflow, Great Expectations or the network. Importing this package is cheap on purpose: a DAG file
imports :mod:`anon_core.spec` at every parse.
"""

__version__ = "0.1.0"
