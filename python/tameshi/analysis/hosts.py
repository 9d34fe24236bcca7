"""Hosts of a fleet: those whose figures lie outside what the others have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tameshi.analysis.stats.estimates import of_phase
from tameshi.analysis.stats.intervals import digits
from tameshi.analysis.stats.stationarity import outliers
from tameshi.core.reasons import reason, verdict, worst

HOST = "host"
"""Axis of a study that several hosts measure."""
MEASURED = "measured"
JUDGED = (".iops", ".rate", ".latency.mean", ".latency.p99")
"""Ends of the metrics by which hosts are compared."""
CODE = "outlier_host"


def flag_hosts(cells: Iterable[dict[str, Any]]) -> None:
    """Flag each cell of a host that is an outlier among the hosts, and warn in its verdict.

    Four hosts are the least for a test.
    """
    for by_host in _alike(cells).values():
        for (metric, subject), values in _figures(by_host).items():
            hosts = list(values)
            for place, change in outliers([values[host] for host in hosts]).items():
                _flag(by_host[hosts[place]], hosts[place], metric, subject, change)


def _alike(cells: Iterable[dict[str, Any]]) -> dict[Any, dict[str, dict[str, Any]]]:
    """Return the measured cells that differ in their host alone, by host."""
    groups: dict[Any, dict[str, dict[str, Any]]] = {}
    for cell in cells:
        levels = dict(cell["levels"])
        host = levels.pop(HOST, None)
        if host is not None and cell["world"] == MEASURED:
            groups.setdefault((cell["phase"], *levels.items()), {})[host] = cell
    return groups


def _figures(
    by_host: Mapping[str, Mapping[str, Any]],
) -> dict[tuple[str, str], dict[str, float]]:
    """Return the values that all hosts have, by metric and subject."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for host, cell in by_host.items():
        for metric, subject, value in _judged(cell):
            found.setdefault((metric, subject), {})[host] = value
    return {figure: values for figure, values in found.items() if len(values) == len(by_host)}


def _judged(cell: Mapping[str, Any]) -> Iterator[tuple[str, str, float]]:
    for each in of_phase(cell):
        if each["metric"].endswith(JUDGED) and each["value"] is not None:
            yield each["metric"], each["subject"], float(each["value"])


def _flag(cell: dict[str, Any], host: str, metric: str, subject: str, change: float) -> None:
    flag = {"code": CODE, "subject": subject, "metric": metric, "repetition": None}
    cell["flags"] = [*cell["flags"], {**flag, "change": digits(change)}]
    why = reason(CODE, subject, host=host, operation=metric.partition(".")[0])
    cell["verdict"] = worst([cell["verdict"], verdict("warning", why)])
