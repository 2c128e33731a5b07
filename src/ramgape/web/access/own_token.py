"""What a server keeps between its starts: where its tokens are, and a token of its own, for its owner's programs.

The server's own token has the role admin and stands in a file that only the owner can read, with the address of the
server; commands and clients on this machine find it there. It stays the same from start to start, unless another user
could have read or written the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
from pathlib import Path

from ramgape.errors import StorageError
from ramgape.remote.credentials import servers_folder
from ramgape.web.access.token_file import is_secret, new_secret, private_folder, write_private

LARGEST = 10_000  # bytes of the file
OTHERS = 0o077  # permissions of anybody else


def default_tokens() -> Path:
    """The file of tokens, unless another is given."""
    return servers_folder().parent / "tokens.json"


def server_file(port: int | None, unix: str | None = None) -> Path:
    """Where a server leaves its address and its token: by its port, or by its socket."""
    if unix is not None:
        name = f"unix-{hashlib.sha256(os.path.realpath(unix).encode()).hexdigest()[:16]}"
    else:
        name = str(port)
    return servers_folder() / f"{name}.json"


def own_token(path: Path, address: str) -> str:
    """The server's own token: the one in the file, if no other user can have written or read it, or else a new one."""
    private_folder(path.parent.parent)
    private_folder(path.parent)
    if sys.platform != "win32":
        folder = path.parent.stat()
        if folder.st_uid != os.geteuid():
            raise StorageError(what=f"the folder {path.parent}", allowed="your own", given="that of another user")
        if folder.st_mode & OTHERS:
            path.parent.chmod(0o700)
    secret = _kept(path) or new_secret()
    write_private(path, {"address": address, "token": secret})
    return secret


def _kept(path: Path) -> str | None:
    """The token in the file, unless it is missing, a link, another user's, or open to others."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        path.unlink(missing_ok=True)
        return None
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(file.fileno())
        mine = sys.platform == "win32" or (found.st_uid == os.geteuid() and not found.st_mode & OTHERS)
        if not stat.S_ISREG(found.st_mode) or not mine:
            path.unlink()
            return None
        try:
            secret = json.loads(file.read(LARGEST))["token"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
    return secret if is_secret(secret) else None
