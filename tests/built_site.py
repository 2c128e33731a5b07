"""The site, built as `make docs` does it, and what its pages link to, load and say."""

from __future__ import annotations

import fcntl
import os
import posixpath
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]
FRONT = "index.html"
# Attributes by which a browser loads something without being asked to; a link to be clicked is none of them.
LOADED = {
    "link": ("href",),
    "script": ("src",),
    "img": ("src", "srcset"),
    "source": ("src", "srcset"),
    "iframe": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "video": ("src", "poster"),
    "audio": ("src",),
    "use": ("href", "xlink:href"),
    "image": ("href", "xlink:href"),
    "form": ("action",),
}
IN_STYLES = re.compile(r"""@import\s+["']([^"']+)|url\(\s*["']?([^"')]+)""")


class SitePage(HTMLParser):
    """A page: `ids`, `links` of what is read and of the rest, what is `loaded`, and the `text` that is read."""

    def __init__(self, path: str, html: str) -> None:
        super().__init__()
        self.path = path
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.read_links: set[str] = set()
        self.loaded: set[str] = set()
        self.styles = ""
        self._text: list[str] = []
        self._in_article = self._in_style = False
        self.feed(html)
        self.loaded |= in_styles(self.styles)
        self.text = " ".join("".join(self._text).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag names, links and loads."""
        given = {name: value or "" for name, value in attrs}
        self._in_article |= tag == "article"
        self._in_style |= tag == "style"
        self.ids |= {given["id"]} if "id" in given else set()
        self.styles += given.get("style", "") + "\n"
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
            if self._in_article:
                self.read_links.add(given["href"])
        for name in LOADED.get(tag, ()):
            if name in given:
                addresses = given[name].split(",") if name == "srcset" else [given[name]]
                self.loaded |= {address.split()[0] for address in addresses if address.strip()}

    handle_startendtag = handle_starttag

    def handle_endtag(self, tag: str) -> None:
        """An article or a style ends."""
        self._in_article &= tag != "article"
        self._in_style &= tag != "style"

    def handle_data(self, data: str) -> None:
        """Keep text that is read."""
        if self._in_style:
            self.styles += data
        elif self._in_article:
            self._text.append(data)


class BuiltSite:
    """All pages of the site, by their paths."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pages = {
            path: SitePage(path, (folder / path).read_text(encoding="utf-8"))
            for path in sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*.html"))
        }

    def target(self, page: str, link: str) -> tuple[str, str] | None:
        """The file and the anchor that a link leads to, of one inside the site."""
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            return None
        there = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(parts.path))) if parts.path else page
        return there, unquote(parts.fragment)

    def clicks(self) -> dict[str, int]:
        """How many clicks each page is from the front page, by links in the text, not by the list at the side."""
        found, edge = {FRONT: 0}, [FRONT]
        for path in edge:
            for link in self.pages[path].read_links:
                target = self.target(path, link)
                if target is not None and target[0] in self.pages and target[0] not in found:
                    found[target[0]] = found[path] + 1
                    edge.append(target[0])
        return found


def is_foreign(address: str) -> bool:
    """Whether it leads to another host."""
    return address.startswith("//") or urlsplit(address).scheme in ("http", "https", "ws", "wss", "ftp")


def in_styles(text: str) -> set[str]:
    """What a style sheet loads."""
    return {first or second for first, second in IN_STYLES.findall(text)}


def build_once(place: Path) -> Path:
    """Build the site there, unless another process does or has done so; warnings are errors."""
    place.mkdir(parents=True, exist_ok=True)
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "said").exists():
            (place / "said").write_text(build(place), encoding="utf-8")
    assert (place / "said").read_text(encoding="utf-8") == ""
    return place / "site"


def build(place: Path) -> str:
    """Build, and give what was said: nothing, if all is well."""
    command = [sys.executable, "-m", "sphinx", "--quiet", "--nitpicky", "--fail-on-warning", "--builder", "html"]
    folders = ["-d", place / "doctrees", ROOT / "docs", place / "site"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1"}
    done = subprocess.run([*command, *folders], env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr + f"exit code {done.returncode}" * (done.returncode != 0)


def style_sheets(folder: Path) -> Iterator[tuple[str, str]]:
    """Files whose addresses a browser follows: style sheets and drawings."""
    for file in [*folder.rglob("*.css"), *folder.rglob("*.svg")]:
        yield file.relative_to(folder).as_posix(), file.read_text(encoding="utf-8")
