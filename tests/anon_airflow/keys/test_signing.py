"""The signing key: where it comes from, what it refuses, and that it never shows."""

from __future__ import annotations

import logging
import multiprocessing
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_airflow.keys import signing
from anon_airflow.keys.ring import KeyRing
from anon_airflow.keys.signing import SigningKey, canonical_json
from anon_core.errors import InvalidInputError, StorageError

SECRET = "a" * 16 + "b" * 16


def key_file(folder: Path, text: str = SECRET, mode: int = 0o600) -> Path:
    path = folder / "key"
    path.write_text(text)
    path.chmod(mode)
    return path


def key_id_of(home: str) -> str:
    return SigningKey.load(Path(home), {}).key_id


@given(st.binary(), st.binary())
def test_a_signature_holds_for_its_message_only(message: bytes, other: bytes) -> None:
    key = SigningKey.of(SECRET.encode())
    mac = key.sign("receipt", message)
    assert key.verify("receipt", message, mac)
    assert key.verify("receipt", other, mac) == (message == other)


def test_a_signature_for_one_purpose_does_not_serve_another() -> None:
    key = SigningKey.of(SECRET.encode())
    assert not key.verify("chain", b"text", key.sign("receipt", b"text"))


def test_a_purpose_cannot_smuggle_in_a_separator() -> None:
    with pytest.raises(InvalidInputError, match="one plain word"):
        SigningKey.of(SECRET.encode()).sign("chain\0x", b"text")


@pytest.mark.parametrize("mac", [None, 5, b"00", "", "è", "\udc80", "0" * 64])
def test_what_is_no_signature_is_refused_without_an_error(mac: object) -> None:
    assert not SigningKey.of(SECRET.encode()).verify("chain", b"text", mac)


def test_the_secret_never_shows() -> None:
    key = SigningKey.of(SECRET.encode())
    assert SECRET not in repr(key) + str(key)
    assert key.key_id in repr(key)


def test_the_environment_comes_before_home(tmp_path: Path) -> None:
    environ = {"ANON_SIGNING_KEY_FILE": str(key_file(tmp_path, "c" * 32))}
    assert SigningKey.load(tmp_path, environ) == SigningKey.of(b"c" * 32)
    assert SigningKey.load(tmp_path, {"ANON_SIGNING_KEY": SECRET}) == SigningKey.of(SECRET.encode())
    assert not (tmp_path / "signing.key").exists()


PLACES = {"ANON_SIGNING_KEY": SECRET, "ANON_SIGNING_KEY_FILE": "/key", "ANON_SIGNING_KEY_CMD": "echo key"}


@pytest.mark.parametrize("left_out", [None, *PLACES])
def test_two_places_for_one_key_are_refused(left_out: str | None, tmp_path: Path) -> None:
    environ = {name: value for name, value in PLACES.items() if name != left_out}
    with pytest.raises(InvalidInputError, match="set only one of them") as caught:
        SigningKey.load(tmp_path, environ)
    assert all(name in str(caught.value) for name in environ) and SECRET not in str(caught.value)


def test_a_command_prints_the_key_and_is_run_without_a_shell(tmp_path: Path) -> None:
    environ = {"ANON_SIGNING_KEY_CMD": f"cat '{key_file(tmp_path, SECRET + chr(10))}'"}
    assert SigningKey.load(tmp_path, environ) == SigningKey.of(SECRET.encode())
    with pytest.raises(InvalidInputError, match="ended with code"):
        SigningKey.load(tmp_path, {"ANON_SIGNING_KEY_CMD": f"cat {tmp_path}/key | tee {tmp_path}/stolen"})
    assert not (tmp_path / "stolen").exists()


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("", "is empty"),
        ("cat 'key", "quote that is not closed"),
        ("/nowhere/vault read key", "cannot be run: No such file"),
        ("sh -c 'echo SECRET-7f3a; echo SECRET-7f3a >&2; exit 3'", "ended with code 3; its output is not shown"),
        ("echo short", r"has 5 characters, but a signing key needs 32"),
        ("sleep 5", "has not ended within 1 seconds"),
    ],
)
def test_a_command_that_gives_no_key_is_explained_without_its_output(
    command: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(signing, "_COMMAND_TIMEOUT_S", 1)
    with pytest.raises(InvalidInputError, match=what) as caught:
        SigningKey.load(tmp_path, {"ANON_SIGNING_KEY_CMD": command})
    assert "SECRET-7f3a" not in str(caught.value) + "".join(capfd.readouterr())


def test_retired_keys_are_read_from_files_of_one_key_per_line(tmp_path: Path) -> None:
    for name, text in (("one", "1" * 32 + "\n\n" + "2" * 32 + "\n"), ("two", "3" * 32)):
        (tmp_path / name).mkdir()
        key_file(tmp_path / name, text)
    files = os.pathsep.join(str(tmp_path / name / "key") for name in ("one", "two"))
    ring = KeyRing.load(tmp_path, {"ANON_SIGNING_KEY": SECRET, "ANON_RETIRED_KEYS_FILE": files})
    assert ring.current == SigningKey.of(SECRET.encode())
    assert ring.retired == tuple(SigningKey.of(each * 32) for each in (b"1", b"2", b"3"))
    assert SECRET not in repr(ring) and "1" * 32 not in repr(ring)


@pytest.mark.parametrize(
    ("text", "mode", "what"),
    [
        ("r" * 32, 0o640, "chmod 600"),
        ("", 0o600, "has no key"),
        ("r" * 32 + "\nshort\n", 0o600, "key 2 has 5 characters"),
        (SECRET, 0o600, "also the current key"),
    ],
)
def test_a_file_of_retired_keys_that_cannot_be_used_is_refused(text: str, mode: int, what: str, tmp_path: Path) -> None:
    path = key_file(tmp_path, text, mode)
    with pytest.raises(InvalidInputError, match=what) as caught:
        KeyRing.load(tmp_path, {"ANON_SIGNING_KEY": SECRET, "ANON_RETIRED_KEYS_FILE": str(path)})
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("files", ["", "/nowhere/keys"])
def test_a_file_of_retired_keys_that_is_not_there_is_refused(files: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="ANON_RETIRED_KEYS_FILE"):
        KeyRing.load(tmp_path, {"ANON_SIGNING_KEY": SECRET, "ANON_RETIRED_KEYS_FILE": files})


def test_the_same_secret_has_the_same_key_id_wherever_it_comes_from(tmp_path: Path) -> None:
    from_file = SigningKey.load(tmp_path, {"ANON_SIGNING_KEY_FILE": str(key_file(tmp_path, SECRET + "\n"))})
    assert from_file == SigningKey.load(tmp_path, {"ANON_SIGNING_KEY": SECRET})
    assert len(from_file.key_id) == 12


def test_the_real_environment_is_read_when_none_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANON_SIGNING_KEY", SECRET)
    assert SigningKey.load(tmp_path) == SigningKey.of(SECRET.encode())


@pytest.mark.parametrize("text", ["", "short", " " * 40])
def test_a_short_key_is_refused_and_the_message_says_how_to_make_one(text: str, tmp_path: Path) -> None:
    for environ in ({"ANON_SIGNING_KEY": text}, {"ANON_SIGNING_KEY_FILE": str(key_file(tmp_path, text))}):
        with pytest.raises(InvalidInputError, match=r"32 or more; make one with .*token_hex"):
            SigningKey.load(tmp_path, environ)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_key_file_that_others_can_read_is_refused(mode: int, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="chmod 600"):
        SigningKey.load(tmp_path, {"ANON_SIGNING_KEY_FILE": str(key_file(tmp_path, mode=mode))})


def test_a_key_file_that_is_no_regular_file_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    for path, kind in ((tmp_path / "pipe", "a FIFO"), (Path("/dev/zero"), "a device"), (tmp_path, "a folder")):
        with pytest.raises(InvalidInputError, match=f"names {kind}"):
            SigningKey.load(tmp_path, {"ANON_SIGNING_KEY_FILE": str(path)})


def test_a_key_file_that_is_far_too_large_is_refused_and_not_read_whole(tmp_path: Path) -> None:
    path = key_file(tmp_path)
    os.truncate(path, 1 << 40)
    with pytest.raises(InvalidInputError, match="more than 65,536 bytes"):
        SigningKey.load(tmp_path, {"ANON_SIGNING_KEY_FILE": str(path)})


def test_a_missing_key_file_is_refused_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="cannot be read"):
        SigningKey.load(tmp_path, {"ANON_SIGNING_KEY_FILE": str(tmp_path / "none")})
    assert not list(tmp_path.iterdir())


def test_a_key_is_made_on_first_use_private_and_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    home = tmp_path / "new" / "home"
    with caplog.at_level(logging.WARNING):
        key = SigningKey.load(home, {})
    assert (home / "signing.key").stat().st_mode & 0o777 == 0o600
    assert home.stat().st_mode & 0o777 == 0o700
    assert "ANON_SIGNING_KEY" in caplog.text and key.secret.decode() not in caplog.text
    assert SigningKey.load(home, {}) == key
    assert [path.name for path in home.iterdir()] == ["signing.key"]


def test_a_damaged_key_in_home_is_refused_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "signing.key").touch(mode=0o600)
    with pytest.raises(InvalidInputError, match="32 or more"):
        SigningKey.load(tmp_path, {})


def test_a_home_that_takes_no_file_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file, not a folder")
    with pytest.raises(StorageError, match="making a private folder"):
        SigningKey.load(tmp_path / "home" / "below", {})


def test_processes_that_make_the_key_at_once_get_the_same_one(tmp_path: Path) -> None:
    with multiprocessing.get_context("fork").Pool(4) as pool:
        for attempt in range(10):
            home = tmp_path / str(attempt)
            assert len(set(pool.map(key_id_of, [str(home)] * 8, chunksize=1))) == 1
            assert [path.name for path in home.iterdir()] == ["signing.key"]


def test_canonical_json_is_one_text_per_value() -> None:
    assert canonical_json({"b": [1, None], "a": "è"}) == canonical_json({"a": "è", "b": [1, None]})
    with pytest.raises(ValueError):
        canonical_json(float("nan"))
