"""Question with results for tests."""

from typing import Any

from tameshi.ask import Question
from tameshi.ask.question import Costs, Storage, Varied
from tameshi.core.reasons import quoted

GB = 10**9
QUESTION: dict[str, Any] = {
    "database_bytes": 24 * GB,
    "pools": (8 << 30, 64 << 30),
    "storages": (
        Storage("disks", {"raid10": {"members": 6, "device": "sas-15k-146gb"}}),
        Storage("card", {"device": "es3000-1.2t"}),
    ),
    "target_qps": 20_000.0,
    "target_p99_ns": None,
    "workload": "tpcc",
    "clients": 20,
    "engine": "mysql",
    "version": "5.7",
    "host": "2x-xeon-e5-2680v3-centos72",
    "redo_bytes": 2 << 30,
    "row_bytes": 300,
    "start": "warm",
    "time_ns": 30_000_000_000,
    "ramp_ns": None,
    "scale": None,
    "repetitions": 1,
    "costs": Costs(),
    "varied": (Varied("redo_log", 1 << 30, 4 << 30), Varied("row_size", 0.8, 1.25)),
}


def question(**changes: Any) -> Question:
    """Return the question with changed fields."""
    return Question(**{**QUESTION, **changes})


def estimate(subject: str, metric: str, value: float, model: Any = None) -> dict[str, Any]:
    """Return an estimate as in results.json."""
    sampling = {"low": 0.9 * value, "high": 1.1 * value, "runs": 1}
    return {
        "subject": subject,
        "metric": metric,
        "value": value,
        "sampling": sampling,
        "model": model,
    }


def cell(levels: dict[str, str], qps: float, p99_ns: float) -> dict[str, Any]:
    """Return a cell with TPC-C."""
    estimates = [
        estimate("tpcc", "statement.rate", qps),
        estimate("tpcc.payment", "transaction.rate", qps / 90),
        estimate("tpcc.new_order", "transaction.rate", qps / 80),
        estimate("tpcc.new_order", "transaction.latency.p99", p99_ns),
        estimate("tpcc.payment", "transaction.latency.p99", p99_ns / 7),
        estimate("server", "server.hit_ratio", 0.97),
        estimate("server", "server.time_processor", 0.3),
        estimate("server", "server.time_page_reads", 0.7),
    ]
    runs = {"complete": 1, "partial": 0, "failed": 0}
    verdict = {"level": "valid", "reasons": []}
    return {"levels": levels, "runs": runs, "verdict": verdict, "estimates": estimates}


def failed(levels: dict[str, str], reason: str) -> dict[str, Any]:
    """Return a failed cell."""
    runs = {"complete": 0, "partial": 0, "failed": 1}
    verdict = {"level": "invalid", "reasons": [quoted(reason)]}
    return {"levels": levels, "runs": runs, "verdict": verdict, "estimates": []}
