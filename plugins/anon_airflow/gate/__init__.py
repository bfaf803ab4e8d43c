"""The gate: the suite of checks, the measurement of the files to publish, the verdict, and the signed receipt."""
