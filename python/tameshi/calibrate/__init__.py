"""Profiles from measurements: a real disk or results become a device profile, and how well it fits.

`design` is the measuring study; `documents` finds results, which `recorded` and `fio_results` read
into `cells`; `models` holds what can be fitted, `simulate` and `fit` fit it, `profile` writes it
down, `command` puts them together. `docs/calibrate.md` is the page for users.
"""

from tameshi.calibrate.command import (
    MODELS,
    Asked,
    Calibrated,
    calibrate,
    measure,
    measuring,
    plain_name,
)
from tameshi.calibrate.documents import is_results

__all__ = [
    "MODELS",
    "Asked",
    "Calibrated",
    "calibrate",
    "is_results",
    "measure",
    "measuring",
    "plain_name",
]
