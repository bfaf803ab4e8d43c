"""Example DAGs, to be copied into a DAGs folder; docs/dags.md explains them."""
