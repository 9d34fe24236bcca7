"""Sphinx's configuration of the documentation site."""

project = "Tameshi"
author = "The Tameshi authors"
copyright = author
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = "Tameshi"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
# Summaries are fetched, which browsers refuse for file://.
html_show_search_summary = False
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline"]
# Docstrings mark code by single backticks.
default_role = "code"
autodoc_typehints = "description"
autodoc_member_order = "bysource"
# Examples show output and comments that no lexer of their language takes.
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
exclude_patterns: list[str] = []
