"""Recoding of singletons [Pastore2020]_."""
