"""The one way in which a check complains."""

from __future__ import annotations


def expect(found: object, wanted: object, what: str) -> None:
    """Complain if something is not what it should be; also where Python leaves out assertions."""
    if found != wanted:
        raise AssertionError(f"{what} must be {wanted!r}, got {found!r}")


def expect_that(holds: bool, what: str, allowed: str, found: object) -> None:
    """The same where more than one value will do."""
    if not holds:
        raise AssertionError(f"{what} must be {allowed}, got {found!r}")
