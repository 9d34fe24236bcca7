"""Generated files equal committed ones."""

import shutil
import subprocess
import sys
from pathlib import Path

TYPES = "python/tameshi/core/spec_types.py"
SCHEMA = "python/tameshi/data/study.schema.json"
PAGES = "docs/reference"


def stale(root: Path, fresh: dict[str, bytes]) -> list[str]:
    """Return the generated files that differ from those under `root`."""
    return [
        f"{name} is stale: make gen"
        for name, content in sorted(fresh.items())
        if not (root / name).is_file() or (root / name).read_bytes() != content
    ]


def test_generated_files_are_fresh(root, tmp_path):
    types = tmp_path / "spec_types.py"
    shutil.copy(root / "pyproject.toml", tmp_path)  # the generator takes the line length from it
    schema = tmp_path / "for_studies"
    generate = [sys.executable, "scripts/generate.py", types, tmp_path, schema]
    subprocess.run(generate, cwd=root, check=True)
    fresh = {f"{PAGES}/{path.name}": path.read_bytes() for path in tmp_path.glob("*.[mj]*")}
    assert fresh
    fresh |= {TYPES: types.read_bytes(), SCHEMA: schema.read_bytes()}
    assert stale(root, fresh) == []


def test_stale_files_are_found(tmp_path):
    (tmp_path / "same").write_text("x")
    (tmp_path / "old").write_text("x")
    found = stale(tmp_path, {"same": b"x", "old": b"y", "gone": b"z"})
    assert found == ["gone is stale: make gen", "old is stale: make gen"]
