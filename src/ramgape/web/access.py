"""Who asks, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, cast

from ramgape.web.errors import Forbidden

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

ROLES = ("read", "work", "admin")  # each may do what those before it may


@dataclass(frozen=True, slots=True)
class Access:
    """What somebody may do.

    Attributes:
        name: Who it is, for logs.
        role: One of `ROLES`.
        studies: Patterns of the names of studies; those of others are not even seen.
    """

    name: str
    role: str
    studies: tuple[str, ...] = ("*",)

    def sees(self, study: str) -> bool:
        """Whether a study exists for them."""
        return any(fnmatchcase(study, pattern) for pattern in self.studies)

    def require(self, role: str) -> None:
        """Complain unless they have this role, or one that may do more."""
        if ROLES.index(self.role) < ROLES.index(role):
            raise Forbidden(what="the token", allowed=f"one with the role {role!r}", given=self.role)


def access_of(request: HTTPConnection) -> Access:
    """Who asks, as the guard has found."""
    return cast(Access, request.scope["state"]["access"])
