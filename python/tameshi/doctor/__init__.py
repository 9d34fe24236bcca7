"""What this machine can do in each world, what spoils a measurement on it, and the remedies.

`gather` reads facts, `judge` turns facts into checks without looking at anything, and `table`
holds every outcome with its words. `docs/doctor-checks.md` lists them all.
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
    """Examines this machine and each path a study might be bound to; by default the current folder.

    In each path's folder a small file is made and removed through the guard. Raises `BadInput` for
    a language there is none of; whatever else is wrong is a check, not an exception.
    """
    if lang not in LANGUAGES:
        message = "the doctor doesn't speak this language"
        raise BadInput(message, where="--lang", found=lang, accepted=LANGUAGES)
    places = dict.fromkeys(path.absolute() for path in (paths or [Path()]))
    return judge(gather(list(places)), lang)
