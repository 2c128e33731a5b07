"""The README as an index shows it: addresses that mean something in the repository alone are made whole.

In the repository, on the site and in an editor links are relative, so that they lead to the same version. Whoever reads
the README elsewhere is sent to the version that it came with. The builder of the package calls this (`pyproject.toml`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

IMAGES = (".gif", ".jpg", ".png", ".svg")
CODE = r"^```.*?^```|^ {4}[^\n]*$|`[^`\n]*`"
# An image or a link whose address begins neither with a scheme nor with #.
RELATIVE = re.compile(
    rf"(?P<code>{CODE})|(?P<before>\]\(|\b(?:src|href)=\")(?!\w+:|#)(?P<address>[^)\s\"]+)",
    flags=re.MULTILINE | re.DOTALL,
)


class ReadmeHook(MetadataHookInterface):
    """Gives the package its description."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Put the README into what is known of the package."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        whole = made_whole(text, metadata["urls"]["Source"], f"v{metadata['version']}")
        metadata["readme"] = {"content-type": "text/markdown", "text": whole}


def made_whole(text: str, source: str, tag: str) -> str:
    """The same text with every relative address leading to a version of the repository.

    Args:
        text: Markdown.
        source: The address of the repository.
        tag: The version.
    """

    def whole(found: re.Match[str]) -> str:
        if found["code"]:
            return found[0]
        view = "raw" if found["address"].partition("#")[0].endswith(IMAGES) else "blob"
        return f"{found['before']}{source}/{view}/{tag}/{found['address'].removeprefix('./')}"

    return RELATIVE.sub(whole, text)


def relative_addresses(text: str) -> list[str]:
    """What is not whole: the addresses in the order of the alphabet."""
    return sorted({found["address"] for found in RELATIVE.finditer(text) if found["address"]})
