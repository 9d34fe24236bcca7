"""Slow motion as of a host, for commands that take `--slow-like`."""

from __future__ import annotations

from pathlib import Path

from tameshi.commands.announcement import end
from tameshi.commands.consoles import ERR
from tameshi.study.bindings import Bindings
from tameshi.workflow.prepare import Prepared


def slowed_like(prepared: Prepared, bound: Bindings, host: str, folder: Path) -> Prepared:
    """Return the study in slow motion as of a host, after a calibration in the study's folder."""
    # The libraries for running take seconds to load.
    from tameshi.workflow.slow_like import likened

    found = likened(prepared, bound, host, folder, ERR)
    if found is None:
        end(interrupted=True, complete=False, holds="nothing of the study has run")
    assert found
    return found
