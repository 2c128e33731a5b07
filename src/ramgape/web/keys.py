"""Requests that say by a key of their own that they are the same: what they change, they change once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Header, Request

from ramgape.web.open_studies import OpenStudy

PATTERN = r"^[!-~]{1,200}$"
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern=PATTERN,
        description="A repetition with the same key, within a day, changes nothing and gets the first answer.",
    ),
]


async def digest_of(request: Request) -> str:
    """What a request asks for, in short."""
    asked = f"{request.method} {request.url.path}?{request.url.query}\n".encode()
    return hashlib.sha256(asked + await request.body()).hexdigest()


def keyed(opened: OpenStudy, key: str | None, digest: str, operate: Callable[[], dict[str, Any]]) -> Callable[[], Any]:
    """An operation that is made once for each key; what it gives is written with what it changes."""
    if key is None:
        return operate
    return lambda: opened.desk.once(key, digest, lambda: json.dumps(operate(), allow_nan=False))
