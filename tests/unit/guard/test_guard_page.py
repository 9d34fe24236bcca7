"""Pages docs/guard*.md name tests that exist, and leave no decision unnamed."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted((ROOT / "docs").glob("guard*.md"))
# How the parts work, rather than what is let through or refused.
NOT_DECISIONS = {
    "test_created_target_has_marker_size_and_aligned_payload",
    "test_header_with_wrong_fields_is_rejected",
    "test_header_fits_sector_and_round_trips",
    "test_direct_io_is_reported_as_effective",
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
