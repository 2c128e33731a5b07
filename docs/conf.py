"""The site: `make docs` builds it from these pages, offline, into build/site."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import ramgape

sys.path.insert(0, str(Path(__file__).parent))  # for the makers
# Nodes live until their page is written, and to look for garbage among them took a sixth of the time.
gc.set_threshold(1_000_000, 50, 50)

project = "ramgape"
author = "The ramgape authors"
version = release = ramgape.__version__
html_title = f"ramgape {release}"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "makers",
]
exclude_patterns = ["gallery/**/README.md"]
nitpicky = True
smartquotes = False  # two dashes begin an option
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
# What is given as code without a language: makers/languages.py finds out which it is.
highlight_language = "none"

autodoc_typehints = "description"
autodoc_typehints_format = "short"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
# `name` in a docstring links to what it names, if that is public.
default_role = "public"
add_module_names = False
toc_object_entries = False  # a tenth of the time; pages with many methods begin with a table of them

copybutton_prompt_text = "$ "  # of a console only the commands are copied
copybutton_copy_empty_lines = False

html_theme = "furo"
html_theme_options = {
    "source_repository": "https://github.com/ramgape/ramgape/",
    "source_branch": "main",
    "source_directory": "docs/",
    "top_of_page_buttons": ["edit"],
}
html_logo = html_favicon = "static/logo.svg"
html_search_scorer = str(Path(__file__).parent / "static" / "scorer.js")
html_context = {
    "description": "Choose the best of several options with few noisy trials, and know how sure you are.",
    "card": "https://github.com/ramgape/ramgape/raw/main/docs/static/card.png",
}
templates_path = ["templates"]
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
html_use_index = True
