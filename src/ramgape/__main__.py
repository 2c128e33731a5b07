"""`python -m ramgape` is the command `ramgape`."""

from __future__ import annotations

from ramgape.cli import main

if __name__ == "__main__":  # worker processes import this file too
    main()
