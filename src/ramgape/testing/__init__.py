"""Checks for what others add to ramgape: whether it does what the rest relies on. Our own tests use them as well."""

from __future__ import annotations

from ramgape.testing.stores import check_store

__all__ = ["check_store"]
