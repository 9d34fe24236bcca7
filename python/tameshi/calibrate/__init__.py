"""Device profiles fitted to measurements, with the error of the fit.

`design` is the measuring study; `documents` finds results, which `recorded` and `fio_cells` read
into `cells`; `models` holds the models, `simulate` and `fit` fit them, `profile` writes the
profile, and `command` joins these steps. `docs/calibrate.md` is the page for users.
"""

from tameshi.calibrate.command import (
    MODELS,
    Asked,
    Calibrated,
    calibrate,
    check_target,
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
    "check_target",
    "is_results",
    "measure",
    "measuring",
    "plain_name",
]
