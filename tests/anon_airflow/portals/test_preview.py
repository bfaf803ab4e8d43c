"""The first rows on the page are rows of the file, whole ones, however odd or large the file is."""

from __future__ import annotations

from pathlib import Path

import pytest

from anon_airflow.portals.folder.preview import MAX_BYTES, MAX_CELL_LENGTH, Preview, preview_of


def preview(folder: Path, content: bytes) -> Preview | None:
    (folder / "a.csv").write_bytes(content)
    files = [{"name": "a.parquet", "media_type": "application/vnd.apache.parquet"}]
    return preview_of(folder, {"distributions": [*files, {"name": "a.csv", "media_type": "text/csv"}]})


def test_ten_rows_are_shown_and_a_short_table_whole(tmp_path: Path) -> None:
    for rows, shown in ((25, 10), (10, 10), (3, 3)):
        found = preview(tmp_path, b'"a","b"\r\n' + b'"x",\r\n' * rows)
        assert found == Preview(file="a.csv", names=["a", "b"], rows=[["x", ""]] * shown)


def test_line_breaks_quotes_and_letters_of_all_kinds_stay_in_their_cell(tmp_path: Path) -> None:
    found = preview(tmp_path, '"a","b"\r\n"two\r\nlines, ""so""","città 😀"\r\n'.encode())
    assert found is not None
    assert found.rows == [['two\r\nlines, "so"', "città 😀"]]


def test_a_long_cell_is_cut_and_says_so(tmp_path: Path) -> None:
    found = preview(tmp_path, b'"a"\r\n"' + b"x" * 1000 + b'"\r\n')
    assert found is not None
    assert found.rows == [["x" * (MAX_CELL_LENGTH - 1) + "…"]]


def test_a_row_whose_end_was_not_read_is_not_shown(tmp_path: Path) -> None:
    cell = b'"' + "é".encode() * 30_000 + b'",'
    found = preview(tmp_path, b'"a","b"\r\n' + (cell + b'"end"\r\n') * 9)
    assert found is not None
    assert len(found.rows) == MAX_BYTES // (len(cell) + 7) < 9
    assert {row[1] for row in found.rows} == {"end"}


@pytest.mark.parametrize("content", [b"", b'"a"\r\n', b'"a"\r\n"' + b"x" * (MAX_BYTES + 1) + b'"\r\n'])
def test_without_a_whole_row_there_is_nothing_to_show(tmp_path: Path, content: bytes) -> None:
    assert preview(tmp_path, content) is None


def test_a_version_without_a_csv_or_with_a_file_that_is_gone_has_no_first_rows(tmp_path: Path) -> None:
    files = [{"name": "a.csv", "media_type": "text/csv"}]
    assert preview_of(tmp_path, {"distributions": files}) is None
    assert preview_of(tmp_path, {"distributions": [files[0] | {"media_type": "text/plain"}]}) is None
