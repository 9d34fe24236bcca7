"""Build the documentation site: Sphinx over the pages of docs/, with generated reference pages.

    python -m scripts.docsite FOLDER

writes the site to FOLDER. Pages keep their places and links. Every warning is an error.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from scripts.docsite.sources import write_sources
from sphinx.cmd.build import main as sphinx


def main(folder: Path) -> int:
    """Build the site; return Sphinx's exit status."""
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "source"
        write_sources(source)
        here = str(Path(__file__).parent)
        options = ["-b", "html", "-c", here, "-d", f"{place}/trees", "-j", "2", "-q", "-W"]
        return int(sphinx([*options, "--keep-going", str(source), str(folder)]))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
