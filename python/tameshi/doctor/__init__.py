"""Capabilities of this machine in each world, disturbances of measurements, and remedies.

`gather` reads facts, `judge` turns facts into checks without input or output, and `table` holds
every outcome with its words. `docs/doctor-checks.md` lists them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tameshi.core.errors import BadInput
from tameshi.doctor.gather import gather
from tameshi.doctor.judge import Check, Diagnosis, judge
from tameshi.doctor.show import as_json, render
from tameshi.doctor.table import LANGUAGES

__all__ = ["Check", "Diagnosis", "as_json", "doctor", "render"]


def doctor(paths: Sequence[Path] = (), lang: str = "en") -> Diagnosis:
    """Examine this machine and possible targets of a study; by default the current folder.

    Creates and removes a small file in each folder through the guard. Raises `BadInput` for an
    unknown language; every other problem is a check.
    """
    if lang not in LANGUAGES:
        message = "the doctor does not speak this language"
        raise BadInput(message, where="--lang", found=lang, accepted=LANGUAGES)
    places = dict.fromkeys(path.absolute() for path in (paths or [Path()]))
    return judge(gather(list(places)), lang)
