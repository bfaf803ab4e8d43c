"""A real CKAN for tests: PostgreSQL, Redis, file store and API on 127.0.0.1; only Solr is a stand-in.

It needs root on a Debian, because PostgreSQL and Redis come from apt and PostgreSQL refuses to run as root. The Python
packages stay in a folder for the next time; everything else is new each time and removed at the end.

    python -m tests.anon_airflow.portals.ckan.boot        boots one, says where it is, and waits for Ctrl-C
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).parents[4]
PACKAGES = ("setuptools<81", "ckan[requirements]==2.12.0", "ckanext-dcat==2.4.4")
DEBIAN = {"redis-server": "redis-server", "psql": "postgresql", "gcc": "gcc", "pg_config": "libpq-dev"}
PLUGINS = "activity datastore text_view datatables_view dcat"
MOST_MEGABYTES = 210
PATIENCE = 120


class BootError(Exception):
    """No CKAN could be booted; the message says why."""


@dataclass(kw_only=True)
class CkanServer:
    """A CKAN that runs; ``state`` is the folder with its data, ``token`` that of its administrator."""

    state: Path
    packages: Path
    ports: dict[str, int]
    token: str = ""
    _running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.ports['ckan']}"

    @property
    def stored(self) -> list[Path]:
        """The files of resources on CKAN's disk, whether a resource still leads to them or not."""
        return [path for path in (self.state / "storage/resources").rglob("*") if path.is_file()]

    def start_search(self) -> None:
        schema = next(self.packages.glob("lib/python3*/site-packages/ckan/config/solr/schema.xml"))
        module = [sys.executable, "-m", "tests.anon_airflow.portals.ckan.solr_standin"]
        self._start("solr", [*module, "--port", str(self.ports["solr"]), "--schema", str(schema)])
        wait_for(lambda: _listens(self.ports["solr"]), "the stand-in for Solr", self.state / "solr.log")

    def stop_search(self) -> None:
        self._kill("solr")

    def start_ckan(self) -> None:
        options = ["run", "--host", "127.0.0.1", "--port", str(self.ports["ckan"]), "--disable-reloader", "--threaded"]
        self._start("ckan", [str(self.packages / "bin/ckan"), "-c", "ckan.ini", *options])
        wait_for(lambda: _answers(f"{self.url}/api/3/action/status_show"), "CKAN", self.state / "ckan.log")

    def kill_ckan(self) -> None:
        """Kill it as the kernel would: no handler runs, no connection is closed politely."""
        self._kill("ckan")

    def ckan(self, *words: str) -> str:
        """Run a command of CKAN's own."""
        return run([str(self.packages / "bin/ckan"), "-c", str(self.state / "ckan.ini"), *words], self.state)

    def _start(self, name: str, command: list[str]) -> None:
        with (self.state / f"{name}.log").open("ab") as log:
            environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
            self._running[name] = subprocess.Popen(
                command, cwd=self.state, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def _kill(self, name: str) -> None:
        if process := self._running.pop(name, None):
            process.kill()
            process.wait()

    def stop(self) -> None:
        for name in tuple(self._running):
            self._kill(name)


def packages_folder() -> Path:
    """Where CKAN's own Python packages are kept: CKAN_PACKAGES, else beside ours."""
    return Path(os.environ.get("CKAN_PACKAGES") or REPOSITORY / ".venv/ckan")


@contextlib.contextmanager
def booted(packages: Path) -> Iterator[CkanServer]:
    """Boot a CKAN, and leave nothing of it but the Python packages in a folder."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise BootError("booting a CKAN needs root on a Debian; set CKAN_URL and CKAN_TOKEN of one that runs")
    _install(packages)
    state = Path(tempfile.mkdtemp(prefix="anonflow-ckan-"))
    state.chmod(0o755)
    server = CkanServer(state=state, packages=packages, ports=_free_ports("postgres", "redis", "solr", "ckan"))
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, state, ignore_errors=True)
        stack.callback(server.stop)
        stack.callback(_stop_postgres, server)
        _start_postgres(server)
        server._start(
            "redis", ["redis-server", "--port", str(server.ports["redis"]), "--bind", "127.0.0.1", "--save", ""]
        )
        server.start_search()
        _configure(server)
        server.start_ckan()
        yield server


def _install(packages: Path) -> None:
    """Get what is missing: programs from Debian, and CKAN's own Python packages, apart from ours."""
    missing = [package for program, package in DEBIAN.items() if not shutil.which(program)]
    if not _postgres_programs() and "postgresql" not in missing:
        missing.append("postgresql")
    if missing or not any(Path("/usr/lib").glob("*/libmagic.so.1")):
        _say(f"installing {', '.join([*missing, 'libmagic1'])}")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        run(["apt-get", "update", "-qq"], Path("/"), environment)
        quietly = ["apt-get", "install", "-y", "-qq", "--no-install-recommends"]
        run([*quietly, *missing, "libmagic1"], Path("/"), environment)
    if (packages / ".ready").exists():
        return
    _say("installing CKAN (once, about half a minute)")
    shutil.rmtree(packages, ignore_errors=True)
    packages.parent.mkdir(parents=True, exist_ok=True)
    uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
    run([uv, "venv", "-q", "--python", sys.executable, str(packages)], REPOSITORY)
    # Without compiled files every command of CKAN's would compile for some seconds.
    into = ["--python", str(packages / "bin/python"), "--compile-bytecode"]
    run([uv, "pip", "install", "-q", *into, *PACKAGES], REPOSITORY)
    (packages / ".ready").touch()


def _start_postgres(server: CkanServer) -> None:
    programs, port = _postgres_programs()[-1], server.ports["postgres"]
    folder = server.state / "postgres"
    folder.mkdir()
    shutil.chown(folder, "postgres", "postgres")
    _as_postgres(f"{programs}/initdb -D {folder}/data -A trust -U postgres -E UTF8 --locale=C.UTF-8 --no-sync", folder)
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
    _as_postgres(f"{programs}/pg_ctl -D {folder}/data -o '{options} -c timezone=UTC' -l {folder}/log -w start", folder)
    roles = "create role ckan login password 'ckan'; create role datastore_ro login password 'ro';"
    _psql(server, roles)
    for name in ("ckan", "datastore"):
        _psql(server, f"create database {name} owner ckan encoding 'utf8'")


def _stop_postgres(server: CkanServer) -> None:
    folder = server.state / "postgres"
    if (folder / "data/postmaster.pid").exists():
        _as_postgres(f"{_postgres_programs()[-1]}/pg_ctl -D {folder}/data -m immediate stop", folder)


def _configure(server: CkanServer) -> None:
    """Write the configuration, make the tables, and an administrator with a token."""
    _say("configuring CKAN")
    port, state = server.ports["postgres"], server.state
    database = f"127.0.0.1:{port}"
    run([str(server.packages / "bin/ckan"), "generate", "config", "ckan.ini"], state)
    settings = {
        "sqlalchemy.url": f"postgresql://ckan:ckan@{database}/ckan",
        "ckan.datastore.write_url": f"postgresql://ckan:ckan@{database}/datastore",
        "ckan.datastore.read_url": f"postgresql://datastore_ro:ro@{database}/datastore",
        "ckan.site_url": server.url,
        "ckan.site_id": "test",
        "solr_url": f"http://127.0.0.1:{server.ports['solr']}/solr/ckan",
        "ckan.redis.url": f"redis://127.0.0.1:{server.ports['redis']}/0",
        "ckan.storage_path": str(state / "storage"),
        "ckan.max_resource_size": str(MOST_MEGABYTES),
        "ckan.plugins": PLUGINS,
        "ckanext.dcat.rdf.profiles": "euro_dcat_ap_3",
        "ckanext.dcat.base_uri": server.url,
    }
    written = [f"{key}={value}" for key, value in settings.items()]
    run([str(server.packages / "bin/ckan"), "config-tool", "ckan.ini", *written], state)
    server.ckan("db", "init")
    server.ckan("db", "pending-migrations", "--apply")
    _psql(server, server.ckan("datastore", "set-permissions"))
    server.ckan("user", "add", "admin", "email=admin@example.org", "password=adminadmin12")
    server.ckan("sysadmin", "add", "admin")
    server.token = server.ckan("user", "token", "add", "admin", "tests", "-q").strip().splitlines()[-1].strip()


def _psql(server: CkanServer, text: str) -> None:
    where = ["-h", "127.0.0.1", "-p", str(server.ports["postgres"]), "-U", "postgres"]
    run(["psql", "-q", "-v", "ON_ERROR_STOP=1", *where], server.state, given=text)


def _postgres_programs() -> list[str]:
    return [str(path.parent) for path in sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))]


def _as_postgres(command: str, folder: Path) -> None:
    # pg_ctl hands its output to the server it starts, which never closes it: it must not be waited for.
    with (folder.parent / "postgres.log").open("ab") as log:
        done = subprocess.run(["su", "postgres", "-c", command], cwd=folder, stdout=log, stderr=log, check=False)
    if done.returncode:
        raise BootError(f"`{command}` failed:\n{(folder.parent / 'postgres.log').read_text()[-2000:]}")


def run(command: list[str], folder: Path, environment: dict[str, str] | None = None, given: str = "") -> str:
    """Run a command and return what it prints; what it says on failure is told."""
    done = subprocess.run(
        command, cwd=folder, env=environment, input=given, text=True, capture_output=True, check=False
    )
    if done.returncode:
        raise BootError(f"`{' '.join(command)}` failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def wait_for(ready: Callable[[], bool], what: str, log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while not ready():
        if time.monotonic() > end:
            raise BootError(f"{what} has not started within {PATIENCE} seconds:\n{log.read_text()[-2000:]}")
        time.sleep(0.1)


def _free_ports(*names: str) -> dict[str, int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in names]
        return {name: one.getsockname()[1] for name, one in zip(names, sockets, strict=True)}


def _listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=30) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with booted(packages_folder()) as server:
        _say(f"CKAN_URL={server.url} CKAN_TOKEN={server.token}")
        with contextlib.suppress(KeyboardInterrupt):
            server._running["ckan"].wait()


if __name__ == "__main__":
    main()
