"""Example DAGs. Airflow lists them where `[core] load_examples` is on; docs/dags.md explains them."""
