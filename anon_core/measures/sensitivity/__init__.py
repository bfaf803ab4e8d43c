"""How much each column helps to single people out [Gong2020]_."""
