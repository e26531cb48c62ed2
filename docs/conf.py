"""How the documentation is built; CI builds it with warnings as errors."""

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

project = "ov-es"
author = "The ov-es founders"
copyright = "2026, The ov-es founders"  # noqa: A001 - Sphinx's own name
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "decisions/template.md"]
html_theme = "furo"
html_title = "ov-es"
myst_heading_anchors = 3


def setup(app: Sphinx) -> None:
    """Let Mermaid's text stand as it is: who reads the page on GitHub gets it drawn."""
    app.add_lexer("mermaid", TextLexer)
