"""A whole file or none, whatever ends the writing; and digests."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from anon_core.errors import StorageError
from anon_core.files.storage import digest, file_digest, whole_file


@pytest.mark.parametrize("ends", [KeyboardInterrupt, ValueError, OSError(28, "CANARY")], ids=["stop", "error", "disk"])
def test_a_file_that_is_not_written_to_its_end_leaves_the_old_one_and_no_part(
    tmp_path: Path, ends: BaseException | type[BaseException]
) -> None:
    path = tmp_path / "table.csv"
    path.write_text("old")
    with pytest.raises((KeyboardInterrupt, ValueError, StorageError)) as caught, whole_file(path) as part:
        part.write_text("ne")
        raise ends
    assert [one.name for one in tmp_path.iterdir()] == ["table.csv"]
    assert path.read_text() == "old"
    assert "CANARY" not in str(caught.value)


def test_a_whole_file_is_private_unless_it_is_meant_for_others(tmp_path: Path) -> None:
    with whole_file(tmp_path / "private") as part:
        part.write_text("new")
    with whole_file(tmp_path / "public", mode=0o644) as part:
        part.write_text("new")
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("private", "public")] == [0o600, 0o644]


def test_a_folder_that_takes_no_file_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(StorageError, match=r"writing the table.*No such file"),
        whole_file(tmp_path / "none" / "table.csv", "writing the table"),
    ):
        pass


def test_the_digest_of_a_text_is_that_of_its_bytes_and_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("é", encoding="utf-8")
    expected = hashlib.sha256("é".encode()).hexdigest()
    assert digest("é") == digest("é".encode()) == file_digest(tmp_path / "file") == expected
