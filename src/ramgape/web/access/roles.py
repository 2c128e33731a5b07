"""Access of a token: a role, and the studies that it is for.

read    look at everything
work    ask, tell, fail, give back, renew, observe
admin   make, change and delete studies; make and revoke tokens
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ramgape.errors import UnknownStudy
from ramgape.web.errors import Forbidden, Unauthorized

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

ROLES = ("read", "work", "admin")  # each may do what those before it may
EVERYTHING = ("*",)
# The requests that have a body, and the role that each takes. The middleware looks here before it reads the body.
SENDING = (
    (re.compile(r"/api/v1/studies/[^/]+/(?:exchange|ask|tell|fail|give-back|renew|leave|observe)"), "work"),
    (re.compile(r"/api/v1/(?:studies|tokens|studies/[^/]+/(?:extend|arms|import))"), "admin"),
)


@dataclass(frozen=True)
class Access:
    """What the sender of a request may do.

    Attributes:
        name: The name of the token, for logs.
        role: One of `ROLES`.
        studies: Patterns of the names of studies, `*`, `?` and `[...]` as a shell has them.
    """

    name: str
    role: str
    studies: tuple[str, ...] = EVERYTHING

    def sees(self, study: str) -> bool:
        """Whether a study is there at all, for this one.

        >>> Access("node-7", "work", ("suppliers*",)).sees("suppliers-2")
        True
        """
        return any(pattern == "*" or fnmatchcase(study, pattern) for pattern in self.studies)

    @property
    def unlimited(self) -> bool:
        """Whether every study is meant, those to come included."""
        return "*" in self.studies

    def require(self, role: str, study: str | None = None) -> None:
        """Complain unless a role is allowed; a study that the token does not see does not exist."""
        if study is not None and not self.sees(study):
            raise UnknownStudy(f"there is no study {study!r} here")
        if ROLES.index(self.role) < ROLES.index(role):
            allowed = f"{role!r}{' or more' * (role != ROLES[-1])} for that"
            raise Forbidden(what="the role of a token", allowed=allowed, given=repr(self.role))

    def only_reading(self) -> Access:
        """The same access with the role read."""
        return self if self.role == "read" else replace(self, role="read")


def sending_role(method: str, path: str) -> str | None:
    """The role that a request with a body takes; None where no route reads a body.

    >>> sending_role("POST", "/api/v1/studies/7/exchange")
    'work'
    """
    if method != "POST":
        return None
    return next((role for form, role in SENDING if form.fullmatch(path)), None)


def access_of(request: HTTPConnection) -> Access:
    """What the sender of a request may do, as the middleware found; an error without a token."""
    access = request.scope.get("state", {}).get("access")
    if access is None:
        raise Unauthorized("a token is needed")
    assert isinstance(access, Access)
    return access
