"""Pages docs/guard*.md name tests that exist, and leave no decision unnamed."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted((ROOT / "docs").glob("guard*.md"))
# How the parts work, rather than what is let through or refused.
NOT_DECISIONS = {
    "test_a_created_target_has_its_marker_its_size_and_an_aligned_payload",
    "test_a_header_with_a_right_digest_and_wrong_fields_is_no_header",
    "test_the_header_fits_a_sector_and_comes_back_as_it_was",
    "test_direct_io_is_reported_as_obtained",
    "test_a_file_system_without_renaming_is_served_by_links",
}


def test_the_page_names_every_decision_and_no_other() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = set(re.findall(r"`(test_\w+)` \|", text))
    sources = set(ROOT.glob("tests/*/guard/test_guard_*.py")) - {Path(__file__)}
    tests = {
        name for file in sources for name in re.findall(r"^def (test_\w+)", file.read_text(), re.M)
    }
    assert named == tests - NOT_DECISIONS
