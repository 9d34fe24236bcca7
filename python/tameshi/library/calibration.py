"""Calibration in Python: a profile of a real drive, and how far it is off."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console

from tameshi import calibrate as tool
from tameshi.core.errors import TameshiError
from tameshi.core.option_values import size_of, time_of
from tameshi.library.device import Device
from tameshi.library.frames import fit_frame
from tameshi.library.results import Results
from tameshi.report.fit import fit_answer


@dataclass(frozen=True)
class Calibration:
    """Profile fitted to measurements. `document` is the content of fit.json."""

    profile: Path
    """File of the profile, which studies next to it find by its name."""
    report: Path
    document: dict[str, Any] = field(repr=False)

    @classmethod
    def of(
        cls,
        what: str | Path | Results,
        *,
        out: str | Path | None = None,
        name: str | None = None,
        model: str | None = None,
        time: str = "5 min",
        size: str | None = None,
        repetitions: int = 3,
        quick: bool = False,
        destroy: Sequence[str] = (),
        keep: bool = False,
        fresh: bool = False,
        progress: bool = False,
    ) -> Calibration:
        """Fit a profile to a drive, a file, a folder's disk, or results; raise `BadInput` first.

        Parameters are the options of `tameshi calibrate`. `what` may be results of this library; to
        those, `size`, `name`, `model` and `out` apply. An interrupted measurement raises
        `TameshiError`, and the same call continues it.
        """
        path = what.folder if isinstance(what, Results) else Path(what)
        called = tool.plain_name(name or path.absolute().stem)
        asked = tool.Asked(
            path,
            Path(out) if out is not None else Path("tameshi-results") / f"cal-{called}",
            called,
            model,
            size_bytes=size_of("size", size) if size is not None else None,
            budget_s=time_of("time", time) / 1e9,
            repetitions=repetitions,
            quick=quick,
            destroy=tuple(destroy),
            keep=keep,
            fresh=fresh,
        )
        console = Console(stderr=True) if progress else Console(file=io.StringIO())
        if not tool.is_results(path):
            tool.check_target(asked)
            prepared = tool.measuring(asked)
            reproduce = [f"# Python: tameshi.Calibration, results in {asked.out}"]
            if not tool.measure(prepared, asked, console, reproduce).complete:
                hint = "The same call continues it."
                raise TameshiError("the measurement is incomplete", where=str(asked.out), hint=hint)
        done = tool.calibrate(asked, console)
        return cls(done.profile, done.report, dict(done.document))

    @property
    def device(self) -> Device:
        """Return the calibrated drive, to simulate it."""
        return Device(str(self.profile))

    @property
    def answers(self) -> list[str]:
        """Return the error of fitted and held-out cells in sentences, as the command prints it."""
        return fit_answer(self.document)

    @property
    def cells(self) -> pl.DataFrame:
        """Return a row per cell: measured and simulated rate (1/s), and the relative error."""
        return fit_frame(self.document["cells"])

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape(line)}</li>" for line in self.answers)
        return f"<p><b>{escape(str(self.document['name']))}</b></p><ul>{items}</ul>"
