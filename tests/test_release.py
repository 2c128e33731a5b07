"""What must be right before a version goes out, tried on a small checkout of its own; and that it is right here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from tools.readme import made_whole, relative_addresses
from tools.release import Refused, about_checkout, about_numbers, about_wheel, call, project_version, release

ROOT = Path(__file__).resolve().parents[1]
STATED = ("CHANGELOG.md", "CITATION.cff", "pyproject.toml")
SOURCE = "https://example.org/someone/something"


def git(folder: Path, *words: str) -> str:
    """A command of git that knows nobody's settings."""
    alone = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    alone |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    who = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org")
    done = subprocess.run(["git", *who, *words], cwd=folder, env=alone, capture_output=True, text=True, check=True)
    return done.stdout


def committed(folder: Path) -> Path:
    """The folder as a checkout in which everything is committed."""
    git(folder, "init", "--quiet")
    for name, value in (("user.name", "nobody"), ("user.email", "nobody@example.org")):
        git(folder, "config", name, value)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "all of it")
    return folder


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in STATED:
        shutil.copy(ROOT / name, tmp_path / name)
    return committed(tmp_path)


def rewrite(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_the_version_is_the_same_everywhere() -> None:
    assert list(about_numbers(ROOT, project_version(ROOT))) == []


def test_security_says_which_versions_get_fixes() -> None:
    minor = project_version(ROOT).rpartition(".")[0]
    assert f"| {minor} | yes |" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_nothing_is_wrong_with_a_checkout_that_is_clean(checkout: Path) -> None:
    version = project_version(checkout)
    assert [*about_numbers(checkout, version), *about_checkout(checkout, version)] == []


@pytest.mark.parametrize("version", ["", "1", "0.2", "v0.2.0", "0.2.0rc1", "00.2.0", "0.2.0\n", "0.2.0.0"])
def test_a_version_is_three_numbers(checkout: Path, version: str) -> None:
    (said,) = about_numbers(checkout, version)
    assert said.startswith("VERSION must be three numbers")


def test_every_place_that_has_another_number_is_named(checkout: Path) -> None:
    said = "\n".join(about_numbers(checkout, "99.0.0"))
    assert all(name in said for name in STATED)


@pytest.mark.parametrize("name", STATED)
def test_one_place_with_another_number_is_enough(checkout: Path, name: str) -> None:
    version = project_version(checkout)
    rewrite(checkout / name, version, "99.0.0")
    (said,) = about_numbers(checkout, version)
    assert said.startswith(name)
    assert "says 99.0.0" in said


@pytest.mark.parametrize("day", ["unreleased", "2026-02-30", "soon"])
def test_a_version_has_a_day(checkout: Path, day: str) -> None:
    version = project_version(checkout)
    changelog = checkout / "CHANGELOG.md"
    text = re.sub(r"^(## \[.*\]) - .*$", rf"\1 - {day}", changelog.read_text(encoding="utf-8"), flags=re.MULTILINE)
    changelog.write_text(text, encoding="utf-8")
    said = list(about_numbers(checkout, version))
    assert len(said) == 2  # it is no day, and not that of the citation
    assert all(repr(day) in each for each in said)


def test_what_is_missing_is_said(checkout: Path) -> None:
    version = project_version(checkout)
    (checkout / "CHANGELOG.md").write_text("# Changelog\n", encoding="utf-8")
    (checkout / "CITATION.cff").write_text("title: ramgape\n", encoding="utf-8")
    said = "\n".join(about_numbers(checkout, version))
    assert "CITATION.cff says nothing" in said
    assert "CHANGELOG.md (its first section) says nothing" in said
    assert "a day such as 2026-11-17" in said


def test_what_is_not_committed_does_not_go_out(checkout: Path) -> None:
    rewrite(checkout / "CHANGELOG.md", "# Changelog", "# Changes")
    (checkout / "forgotten.py").touch()
    (said,) = about_checkout(checkout, "0.2.0")
    assert "CHANGELOG.md" in said
    assert "forgotten.py" in said


def test_a_version_goes_out_once(checkout: Path) -> None:
    git(checkout, "tag", "v0.2.0")
    assert list(about_checkout(checkout, "0.2.0")) == ["there is a tag v0.2.0 already"]
    assert list(about_checkout(checkout, "0.2.1")) == []


def test_nothing_is_tagged_or_built_where_something_is_wrong(checkout: Path) -> None:
    with pytest.raises(Refused, match=r"not 99\.0\.0"):
        release(checkout, "99.0.0")
    assert git(checkout, "tag") == ""
    assert git(checkout, "status", "--porcelain", "--ignored") == ""


def test_what_fails_is_told_with_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"(?s)git status failed:.*not a git repository"):
        call("git", "status", cwd=tmp_path)


def wheel_with(tmp_path: Path, metadata: str) -> Path:
    file = tmp_path / "ramgape-0.2.0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("ramgape-0.2.0.dist-info/METADATA", metadata)
    return file


def test_a_wheel_of_another_version_or_with_a_description_that_shows_wrongly_is_refused(tmp_path: Path) -> None:
    head = "Metadata-Version: 2.4\nName: ramgape\nVersion: {}\nProject-URL: Source, {}\n{}\n\n{}\n"
    kind = "Description-Content-Type: text/markdown"
    right = head.format("0.2.0", SOURCE, kind, f"[all]({SOURCE}) of it, é")
    assert list(about_wheel(wheel_with(tmp_path, right), "0.2.0")) == []
    wrong = head.format("0.1.0", "example.org", "Description-Content-Type: text/plain", "![it](docs/it.png)")
    said = list(about_wheel(wheel_with(tmp_path, wrong), "0.2.0"))
    assert [each.partition(" ")[0] for each in said] == ["the", "the", "addresses", "a"]
    assert "docs/it.png" in said[2]


def test_addresses_of_the_readme_lead_somewhere_from_an_index() -> None:
    text = """[page](docs/a.md#part), ![a picture
of it](./docs/images/b.png), <img src="docs/c.svg">, [there](https://example.org/d.md), [here](#part), [mail](mailto:e)

    code[0](docs/f.md)

```python
code[0](docs/g.md)
```
and `code[0](h.md)`.
"""
    assert relative_addresses(text) == ["./docs/images/b.png", "docs/a.md#part", "docs/c.svg"]
    whole = made_whole(text, SOURCE, "v1.2.3")
    assert relative_addresses(whole) == []
    assert f"[page]({SOURCE}/blob/v1.2.3/docs/a.md#part)" in whole
    assert f"of it]({SOURCE}/raw/v1.2.3/docs/images/b.png)" in whole
    assert f'<img src="{SOURCE}/raw/v1.2.3/docs/c.svg">' in whole
    for kept in ("[there](https://example.org/d.md)", "[here](#part)", "code[0](docs/f.md)", "code[0](docs/g.md)"):
        assert kept in whole


def test_hooks_before_a_commit_call_what_lint_calls() -> None:
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nlint:")[2].partition("\n\n")[0]
    called = {words.split()[0] for words in re.findall(r"\$\(BIN\)/(.*)", recipe)}
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    shown = {"python"}  # which only prints sizes
    assert {entry.split()[0] for entry in re.findall(r"entry: \.venv/bin/(.*)", hooks)} == called - shown
    assert "repo: local" in hooks
    assert "http" not in hooks


@pytest.mark.long
def test_a_version_is_built_tried_and_tagged(tmp_path: Path) -> None:
    """All of it on a copy: the wheel is installed in an environment of its own, and the tag is where it was made."""
    away = shutil.ignore_patterns(
        ".git", ".venv", "build", "dist", "__pycache__", ".*_cache", ".hypothesis", "*.nb[ci]"
    )
    shutil.copytree(ROOT, tmp_path / "copy", ignore=away)
    copy = committed(tmp_path / "copy")
    version = project_version(copy)
    release(copy, version)
    assert git(copy, "tag") == f"v{version}\n"
    assert git(copy, "rev-parse", f"v{version}^{{commit}}") == git(copy, "rev-parse", "HEAD")
    built = {file.name for file in (copy / "dist").iterdir()}
    assert built == {f"ramgape-{version}.tar.gz", f"ramgape-{version}-py3-none-any.whl"}
    with pytest.raises(Refused, match=f"a tag v{version} already"):
        release(copy, version)
