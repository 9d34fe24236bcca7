"""Tameshi: the proving ground for storage under databases.

The names in `__all__` are the public library, documented in docs/python.md; every other module may
change. They are imported when they are first used: the command line starts without them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tameshi.library import (
        BadInput,
        Calibration,
        Device,
        Plan,
        Results,
        Study,
        TameshiError,
        open,
        samples,
        studies,
    )

__all__ = [
    "BadInput",
    "Calibration",
    "Device",
    "Plan",
    "Results",
    "Study",
    "TameshiError",
    "open",
    "samples",
    "studies",
]


def __getattr__(name: str) -> Any:
    """Return a name of the public library."""
    if name not in __all__:
        raise AttributeError(f"module 'tameshi' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("tameshi.library"), name)


def __dir__() -> list[str]:
    """Return the public names, for completion."""
    return sorted([*globals(), *__all__])
