"""Validation of predictions against published figures: tools, pages and lists. No product code."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "validation"
"""Folder of predictions and of the pages made from them."""
LISTS = Path(__file__).resolve().parent
"""Folder of exceptions and of lists of published figures that no ready study reproduces."""
