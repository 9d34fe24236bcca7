"""Import of the compiled module from the test environment, never from the checkout.

The environment's `checkout.pth` imports this module when Python starts.
"""

import sys
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path

FOLDER = Path(sys.prefix) / "compiled"
NAME, FILE = "tameshi._tameshi", "lib_tameshi.so"


class TestBuild:
    """Finder of the module that `make` built for tests."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the path of the compiled module; None for all others."""
        return spec_from_file_location(name, FOLDER / FILE) if name == NAME else None


sys.meta_path.insert(0, TestBuild)
