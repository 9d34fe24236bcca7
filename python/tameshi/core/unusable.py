"""Errors of an installation without a compiled module that this machine can load."""

from __future__ import annotations

import platform
from pathlib import Path

from tameshi.core.errors import TameshiError

SYSTEM = "Linux"
ACCEPTED = f"{SYSTEM} on x86-64"
"""Platform of the wheel."""
REMEDY = "Install the wheel (pip install dist/tameshi-*.whl), or run make setup in a checkout."
PACKAGE = Path(__file__).resolve().parent.parent


def unusable_module(error: ImportError) -> TameshiError:
    """Return the error to raise if `tameshi._tameshi` cannot be imported."""
    found = f"{platform.system()} on {platform.machine()}"
    if platform.system() != SYSTEM:
        return TameshiError(
            "Tameshi does not run on this platform",
            found=found,
            accepted=[ACCEPTED],
            hint="It runs in a virtual machine or container with Linux.",
        )
    if error.path is None or Path(error.path).suffix == ".py":
        return TameshiError(
            "the compiled module of Tameshi is missing",
            where=str(PACKAGE),
            found=f"no _tameshi.abi3.so for {found}",
            accepted=[f"the module of the wheel, on {ACCEPTED}"],
            hint=REMEDY,
        )
    return TameshiError(
        "the compiled module of Tameshi cannot be loaded",
        where=error.path,
        found=f"{error.msg}, {found}",
        accepted=[f"{ACCEPTED}, with the glibc that the wheel's name states, or a newer one"],
        hint=REMEDY,
    )
