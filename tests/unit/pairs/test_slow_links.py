"""Event of a slow link: the link is slowed for a while, without a failover."""

from __future__ import annotations

from typing import Any

from tameshi.core.errors import RunFailed
from tameshi.pairs import REPLICATIONS, TrialPlan, run_trial

PLAN = TrialPlan("slow-link", before=0.01, after=0.01, slow=0.01, slow_factor=30.0)


class Steady:
    """Pair without servers, and its load: ten commits per reading."""

    way = REPLICATIONS["postgresql-on"]
    t0_ns = 0

    def __init__(self) -> None:
        self.factors: list[float] = []
        self.made = 0

    def __getattr__(self, name: str) -> Any:
        return {"primary": self, "server": self, "name": "left", "pid": 1, "drive": None}[name]

    @property
    def sides(self) -> tuple[Steady]:
        return (self,)

    def cpu_seconds(self) -> float:
        return 0.0

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...

    def slow_link(self, factor: float) -> None:
        self.factors.append(factor)

    def commits(self) -> int:
        self.made += 10
        return self.made

    def lag_ns(self) -> int:
        return 5_000_000 * (4 if self.factors else 1)

    def link_bytes(self) -> int:
        return 0

    def client(self) -> Any:
        raise RunFailed("no server")

    def wait_ready(self) -> None: ...

    def outages(self) -> list[Any]:
        return []

    def errors(self) -> dict[str, int]:
        return {}

    def latencies_ns(self, spans: list[Any]) -> list[tuple[int, int]]:
        return [(1, 2)] * len(spans)

    def check(self) -> dict[str, int]:
        return {"acknowledged": self.made, "lost": 0}


def test_slow_link_is_slowed_then_restored_without_failover() -> None:
    pair = Steady()
    found = run_trial(pair, pair, PLAN)  # type: ignore[arg-type]
    assert pair.factors == [30.0, 1]
    assert found.failover is None and found.away_ns is None and not found.outage
    assert found.rate_alone and found.rate_alone > 0
    assert found.lags_ns[0] == 5_000_000 and found.slow_lags_ns[0] == 20_000_000
    assert found.warm_up is None and found.returned is None
