"""Where the project's own files lie."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROFILES = ROOT / "profiles"
STUDIES = ROOT / "studies"
VALIDATION = ROOT / "docs" / "validation"
PUBLISHED = ROOT / "published"
