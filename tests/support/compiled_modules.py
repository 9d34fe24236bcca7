"""Import of the compiled modules from the test environment, never from the checkout.

The environment's `checkout.pth` imports this module when Python starts.
"""

import sys
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path

FOLDER = Path(sys.prefix) / "compiled"
FILES = {"tameshi._tameshi": "lib_tameshi.so", "tameshi._oltp": "lib_oltp.so"}


class TestBuild:
    """Finder of the modules that `make` built for tests."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return where a compiled module lies; None for all others."""
        file = FILES.get(name)
        return spec_from_file_location(name, FOLDER / file) if file else None


sys.meta_path.insert(0, TestBuild)
