"""Names of tests in docs/guard.md, and completeness of its decisions."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "guard.md"
# Tests of internals rather than of decisions.
NOT_DECISIONS = {
    "test_created_target_has_marker_size_and_aligned_payload",
    "test_header_with_wrong_fields_is_rejected",
    "test_header_fits_sector_and_round_trips",
    "test_direct_io_is_reported_as_effective",
    "test_a_file_system_without_renaming_is_served_by_links",
}


def test_the_page_names_every_decision_and_no_other() -> None:
    named = set(re.findall(r"`(test_\w+)` \|", PAGE.read_text(encoding="utf-8")))
    sources = set(ROOT.glob("tests/*/guard/test_guard_*.py")) - {Path(__file__)}
    tests = {
        name for file in sources for name in re.findall(r"^def (test_\w+)", file.read_text(), re.M)
    }
    assert named == tests - NOT_DECISIONS
