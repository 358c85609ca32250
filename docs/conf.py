"""Sphinx: ``make docs`` builds the HTML of this folder; a link that leads nowhere fails it."""

from __future__ import annotations

import re
from pathlib import Path

_INIT = Path(__file__).resolve().parent.parent / "metrics" / "__init__.py"
_VERSION = re.search(r'__version__ = "(.+)"', _INIT.read_text(encoding="utf-8"))
assert _VERSION

project = "figlang_tasks"
author = "the figlang_tasks authors"
release = _VERSION[1]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
autodoc_typehints_format = "short"
autodoc_type_aliases = {"npt.ArrayLike": "ArrayLike"}
default_role = "py:obj"  # `name` in docstrings
napoleon_google_docstring = True
napoleon_use_ivar = True
source_suffix = {".md": "markdown"}
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"figlang_tasks {release}"
