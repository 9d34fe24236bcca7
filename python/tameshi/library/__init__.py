"""Public Python library: studies, their results, and drives, by the functions of the commands.

`import tameshi` has all names of this package.
"""

from tameshi.core.errors import BadInput, TameshiError
from tameshi.library.calibration import Calibration
from tameshi.library.device import Device
from tameshi.library.results import Results, open
from tameshi.library.sampling import samples
from tameshi.library.study import Plan, Study, studies

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
