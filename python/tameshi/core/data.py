"""Package data: profiles, ready studies, published figures, and evidence on model errors."""

from importlib.resources import files
from pathlib import Path

DATA = Path(str(files("tameshi"))) / "data"
PROFILES = DATA / "profiles"
STUDIES = DATA / "studies"
PUBLISHED = DATA / "published"
"""Lists of published figures, with and without values."""
EVIDENCE = DATA / "evidence"
"""Known model errors, from which intervals of predictions follow."""
DASHBOARD = DATA / "grafana-dashboard.json"
"""Dashboard of the metrics that `run --metrics` serves."""
STUDY_SCHEMA = DATA / "study.schema.json"
"""JSON schema of study files for editors, written by `make gen`."""
GALLERY = DATA / "gallery.json"
"""Answer and measured running time of each ready study, written by `scripts/gallery.py`."""
