"""Results of a study in Python: frames, plots, comparison, report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import polars as pl

from tameshi.compare import Options, Side, compare, large_side, read_side
from tameshi.library.frames import (
    cells_frame,
    comparison_frame,
    estimates_frame,
    histogram_frame,
    published_frame,
    series_frame,
)
from tameshi.record.cell_files import CELLS, ESTIMATES, INTERNAL, scan
from tameshi.record.store import SealedRun
from tameshi.report.study import plot_figures, terminal_doubts, terminal_summary
from tameshi.report.view.inputs import ReportInputs
from tameshi.study.file import read_text
from tameshi.workflow import study_folder
from tameshi.workflow.prices import refusal_of_prices, write_prices


def open(folder: str | Path) -> Results:
    """Open the results in a study folder, or a results.json alone; raise `BadInput`.

    A results.json alone has estimates; series and histograms are in the folder of its runs.
    """
    path = Path(folder)
    if path.is_file():
        side = read_side(path)
        return Results(path.parent, dict(side.results), list(side.runs))
    summary, _ = study_folder.read_summary(path)
    read = study_folder.read_runs(path)
    return Results(path, study_folder.found_in(path, summary, read), read.runs)


@dataclass(frozen=True)
class Results:
    """Results of a study. `document` is the content of results.json."""

    folder: Path
    document: dict[str, Any] = field(repr=False)
    runs: Sequence[SealedRun] = field(repr=False)
    """Runs; of a large study, read when they are used."""
    complete: bool = True
    """False if runs were interrupted or failed."""

    @property
    def title(self) -> str:
        """Return the study's title."""
        return str(self.document["study"]["title"])

    @property
    def study_text(self) -> str:
        """Return the TOML text of the study, as it ran; raise `BadInput` without it."""
        return read_text(self.folder / study_folder.STUDY, "the study of these results")

    @property
    def verdict(self) -> str:
        """Return valid, warning or invalid."""
        return str(self.document["verdict"]["level"])

    @property
    def answers(self) -> list[str]:
        """Return the answer in sentences, as the command prints it."""
        return terminal_summary(self._inputs())

    @property
    def doubts(self) -> list[str]:
        """Return in sentences why results can't be trusted or what the model leaves out."""
        return terminal_doubts(self._inputs())

    @property
    def cells(self) -> pl.DataFrame:
        """Return a row per cell: world, phase, levels, verdict, numbers of runs."""
        if "tables" in self.document:
            return scan(self.folder, CELLS).drop(INTERNAL).collect()
        return cells_frame(self.document["cells"])

    def estimates(self, metric: str | None = None, *, subject: str | None = None) -> pl.DataFrame:
        """Return a row per estimate, of one metric or subject if named."""
        asked = {"metric": metric, "subject": subject}
        wanted = [pl.col(name) == value for name, value in asked.items() if value is not None]
        is_large = "tables" in self.document
        frame = (
            scan(self.folder, ESTIMATES).drop("key")
            if is_large
            else estimates_frame(self.document["cells"]).lazy()
        )
        for each in wanted:
            frame = frame.filter(each)
        return frame.collect()

    @property
    def published(self) -> pl.DataFrame:
        """Return a row per published figure of the study: theirs, ours, and the ratio."""
        return published_frame(self.document["published"])

    def series(self, metric: str | None = None) -> pl.DataFrame:
        """Return the recorded intervals of every run, of one metric if named."""
        return series_frame(self._usable(), metric)

    def histogram(self, operation: str | None = None) -> pl.DataFrame:
        """Return the latency histograms of every run: read, write, commit or another operation."""
        return histogram_frame(self._usable(), operation)

    def compare(
        self,
        other: Results,
        *,
        world: str = "",
        within: float = 0.05,
        every: bool = False,
        changed: Sequence[str] = (),
    ) -> pl.DataFrame:
        """Compare `other` (b) with these results (a), as `tameshi compare` does.

        A row per metric of each common cell: `outcome` is better, worse, same or not judged.
        """
        options = Options(world, within, every, changed)
        comparison = compare(self._side(), other._side(), options)
        return comparison_frame(comparison.as_json()["cells"])

    def plots(self, lang: str = "en") -> dict[str, go.Figure]:
        """Return the plots of the report by name, as plotly's figures."""
        return {
            name: go.Figure(plot["data"], plot["layout"])
            for name, plot in plot_figures(self._inputs(), lang).items()
        }

    def report(self, lang: str = "en", *, prices: Mapping[str, Any] | None = None) -> Path:
        """Write the report to the folder, and return its path.

        `prices`: of a large study, amounts by name, as in `{"storage.flash": 900, "buffer_pool":
        "5/GiB"}`; they stay in the folder until others are given.
        """
        if prices is not None:
            if "tables" not in self.document:
                raise refusal_of_prices(str(self.folder))
            write_prices(self.folder, [f"{name}={price}" for name, price in prices.items()])
        return study_folder.write_html(self.folder, self._inputs(), lang)

    def _usable(self) -> Iterator[SealedRun]:
        return (run for run in self.runs if run.outcome["status"] != "failed")

    def _side(self) -> Side:
        if "tables" in self.document:
            return large_side(str(self.folder), self.folder, self.document, self.runs)
        return Side(str(self.folder), self.document, self.runs)

    def _inputs(self) -> ReportInputs:
        reproduce: Sequence[str] = ()
        if (self.folder / study_folder.SUMMARY).exists():
            reproduce = study_folder.read_summary(self.folder)[1]
        return study_folder.inputs_of(self.folder, self.document, self.runs, reproduce)

    def _repr_html_(self) -> str:
        lines = [*self.answers, *self.doubts]
        items = "".join(f"<li>{escape(line)}</li>" for line in lines)
        question = escape(str(self.document["study"]["question"]))
        return f"<p><b>{escape(self.title)}</b><br>{question}</p><ul>{items}</ul>"
