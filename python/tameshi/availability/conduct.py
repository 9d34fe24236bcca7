"""Trials of a set one after the other, with progress; those that have ended are not repeated."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tameshi import guard
from tameshi.availability.folder import REPORT, RESULTS, SetFolder
from tameshi.availability.summary import summarise
from tameshi.availability.trial_set import Trial, TrialSet
from tameshi.core.errors import RunFailed
from tameshi.core.units import format_wait
from tameshi.record.store import write_json
from tameshi.report.failovers import failovers_page


@dataclass(frozen=True)
class Conducted:
    """End of a set: `made` trials now, and whether Ctrl-C ended it."""

    made: int
    is_interrupted: bool


def conduct(
    asked: TrialSet,
    folder: SetFolder,
    make: Callable[[Trial], Mapping[str, Any]],
    say: Callable[[str], None],
) -> Conducted:
    """Make each trial that is not in the folder yet, and keep its result at once.

    A trial that fails is kept with its reason, and made again by the next call.
    """
    trials = asked.trials()
    missing = [trial for trial in trials if folder.read(trial) is None]
    if len(missing) < len(trials):
        say(f"{len(trials) - len(missing)} of {len(trials)} trials have ended before")
    begin = time.monotonic()
    for number, trial in enumerate(missing):
        place = f"{len(trials) - len(missing) + number + 1} of {len(trials)}"
        named = f"{trial.way}, {trial.event}, {trial.drive}, repetition {trial.repetition}"
        say(f"{place}: {named}{_left(begin, number, len(missing))}")
        try:
            result = make(trial)
        except KeyboardInterrupt:
            return Conducted(number, is_interrupted=True)
        except RunFailed as error:
            folder.write(trial, {"failure": str(error)})
            say(f"  failed: {error}")
            continue
        folder.write(trial, result)
        say(f"  {result['answer']}")
    return Conducted(len(missing), is_interrupted=False)


def _left(begin: float, made: int, missing: int) -> str:
    """Return the time left, as the trials so far took; empty before the first has ended."""
    if not made:
        return ""
    each = (time.monotonic() - begin) / made
    return f"; about {format_wait(each * (missing - made) * 1e9)} left"


def finish(asked: TrialSet, folder: SetFolder, lang: str = "en") -> dict[str, Any]:
    """Write results and report of the trials that have ended; return the results."""
    results = summarise(asked, folder)
    write_json(folder.path / RESULTS, results)
    guard.write_file(folder.path / REPORT, failovers_page(results, lang).encode())
    return results
