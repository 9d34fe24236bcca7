"""Reports in the layouts of other tools: tpcc-mysql and sysbench."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tameshi.core.errors import BadInput
from tameshi.record.store import SealedRun
from tameshi.report.layouts import sysbench, tpcc_mysql

FORMS: Mapping[str, Callable[[SealedRun], Sequence[str]]] = {
    "tpcc-mysql": tpcc_mysql.reports,
    "sysbench": sysbench.reports,
}
"""By value of `--format`: the reports of a run, one per phase."""


def as_form(form: str, runs: Sequence[SealedRun]) -> str:
    """Return every report of the runs in sequence. Raises `BadInput` if there is none."""
    usable = [run for run in runs if run.outcome["status"] != "failed"]
    reports = [report for run in usable for report in FORMS[form](run)]
    if not reports:
        program = "TPC-C" if form == "tpcc-mysql" else "a program on a database"
        raise BadInput(
            f"no run of this study has a phase of {program}", where="--format", found=form
        )
    return "\n".join(reports)
