"""`tameshi failover`: refusals before anything is made, and results in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from command import tameshi

from tameshi.commands import failover
from tameshi.pairs import COPY, Costs, Failover, Return, TrialResult, Warmth, WarmUp
from tameshi.pairs.show import answer, as_json, holds, result_text

REFUSED = [
    ("unknown replication", ["mariadb"], "mariadb-semi-synchronous"),
    ("unknown event", ["mariadb-asynchronous", "--event", "fire"], "split-brain"),
    ("no time", ["mariadb-asynchronous", "--notice", "soon"], "a time such as 4s"),
    ("unknown link", ["mariadb-asynchronous", "--link", "no-such"], "no such link profile"),
    ("unknown drive", ["mariadb-asynchronous", "--drive", "no-such"], "no such profile"),
    ("place of an unknown drive", ["mariadb-asynchronous", "--drive", "no-such"], "--drive: "),
    ("link of a server alone", ["mariadb-single", "--event", "link-cut"], "has no link"),
    ("unknown ready set", ["failover-way"], "mariadb-single"),
    ("no repetition", ["mariadb-single", "--repetitions", "0"], "--repetitions"),
    ("slow link that is none", ["postgresql-on", "--slow-link", "0.5"], "a factor from 1"),
    ("mirror's slow link", ["mariadb-block-mirror", "--event", "slow-link"], "cannot be slowed"),
    ("quota of an unknown host", ["postgresql-on", "--quota", "middle=50%"], "no host has this"),
    ("processor that is not there", ["postgresql-on", "--processors", "left=999"], "no such proc"),
    ("little pool", ["postgresql-on", "--buffer-pool", "1 apple"], "1 apple"),
]


@pytest.mark.parametrize(
    ("words", "expected"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_bad_input_of_a_failover_is_refused(
    monkeypatch: pytest.MonkeyPatch, words: list[str], expected: str
) -> None:
    monkeypatch.setattr(failover, "enter_private_namespace", lambda: pytest.fail("too late"))
    done = tameshi("failover", *words)
    assert done.returncode == 2, done.stderr
    assert expected in done.stderr.replace("\n", " ")


def ledger(**found: int) -> dict[str, Any]:
    known = ("lost", "twice", "phantom", "broken", "ambiguous", "ambiguous_present")
    return {"acknowledged": 12_345, **dict.fromkeys(known, 0), **found}


OUTAGE = {"first_error_ns": 10**9, "first_success_ns": 14 * 10**8, "recovered_ns": None}
FOUND = TrialResult(
    replication="mariadb-semi-synchronous",
    event="kill",
    rate=1234.5,
    rate_alone=2000.0,
    rate_after=1200.0,
    latencies_ns=((3_000_000, 8_000_000), (2_000_000, 5_000_000), (4_000_000, 9_000_000)),
    lags_ns=(4_000_000, 5_000_000, 9_000_000),
    costs=Costs(512.0, 150_000.0, 90_000.0),
    failover=Failover(0, 10**7, 3 * 10**7, 10**8, 11 * 10**7),
    away_ns=410_000_000,
    outage=OUTAGE,
    returned=Return("binary log", 2 * 10**9, 1 << 20),
    ledger=ledger(),
    returned_ledger=ledger(),
)


def test_answer_says_first_what_was_lost_and_how_long_it_took() -> None:
    assert answer(FOUND) == (
        "None of 12,345 acknowledged commits was lost, and the service was back 410 ms after the "
        "event."
    )
    lines = list(result_text(FOUND))
    assert lines[0] == answer(FOUND)
    assert "commits per s: 1,234 before, 2,000 until the failed side is back" in lines[2]
    assert "median 3.00 ms, 2.00 ms, 4.00 ms; p99 8.00 ms" in lines[3]
    assert "lag of the standby: 5.00 ms" in lines[4]
    assert "512 B over the link, 150 µs" in lines[5]
    assert "400 ms from the first error to the first success" in lines[6]
    assert lines[7] == (
        "failover: fence 10.0 ms, catch up 20.0 ms, promotion 70.0 ms, repointing 10.0 ms, "
        "failover 110 ms"
    )
    assert "by binary log in 2.00 s, 1.00 MiB over the link" in lines[8]


def test_promise_is_broken_only_where_there_is_one() -> None:
    lossy = replace(FOUND, ledger=ledger(lost=7))
    assert not holds(lossy) and answer(lossy).endswith("The replication's promise is broken.")
    asynchronous = replace(lossy, replication="mariadb-asynchronous")
    assert holds(asynchronous)
    assert answer(asynchronous).startswith("7 of 12,345 acknowledged commits were lost")
    twice = replace(asynchronous, ledger=ledger(twice=1, phantom=2))
    assert not holds(twice) and "3 commits are there twice, or unexplained" in answer(twice)
    assert as_json(twice)["unexplained"] == 3
    broken = replace(asynchronous, ledger=ledger(broken=4))
    assert not holds(broken) and "4 rows violate conditions" in answer(broken)


def test_errors_and_unknown_outcomes_of_clients_are_said() -> None:
    unknown = ledger(ambiguous=4, ambiguous_present=2)
    seen = replace(FOUND, ledger=unknown, errors={"mysql 1180": 4, "mysql 1047": 1_680})
    text = list(result_text(seen))
    assert "errors of clients: mysql 1047 (1,680), mysql 1180 (4)" in text
    assert "commits of unknown outcome: 4, of which the database has 2" in text
    assert holds(seen)


def test_slow_link_says_rates_and_lags_without_a_failover() -> None:
    slow = replace(
        FOUND, event="slow-link", rate_alone=100.0, failover=None, away_ns=None, outage={},
        returned=None, slow_lags_ns=(20_000_000,),
    )  # fmt: skip
    assert answer(slow) == (
        "None of 12,345 acknowledged commits was lost, and the service made 1,234 commits per s "
        "before, 100 with the slow link, 1,200 afterwards."
    )
    text = "\n".join(result_text(slow))
    assert "(median of 3); 20.0 ms with the slow link" in text
    assert "outage" not in text and "failover:" not in text and "return" not in text
    assert as_json(slow)["steps_ns"] == {}


def test_copy_says_why_the_log_did_not_suffice() -> None:
    copied = replace(FOUND, away_ns=None, returned=Return(COPY, 10**9, 1, "it has diverged"))
    *_, last = result_text(copied)
    assert last == "its own data did not suffice: it has diverged"
    assert "did not come back" in answer(copied)


def test_server_alone_has_neither_lag_nor_return() -> None:
    alone = replace(
        FOUND,
        replication="mariadb-single",
        rate_alone=None,
        latencies_ns=((3_000_000, 8_000_000), (0, 0), (4_000_000, 9_000_000)),
        lags_ns=(),
        costs=Costs(0.0, 150_000.0, 0.0),
        failover=Failover(0, 1, 2, 3, 4, ("fence", "mount", "recovery", "repointing")),
        returned=None,
        returned_ledger={},
    )
    text = "\n".join(result_text(alone))
    assert "commits per s: 1,234 before, 1,200 afterwards" in text
    assert "median 3.00 ms, 4.00 ms; p99 8.00 ms, 9.00 ms" in text
    assert "lag" not in text and "return" not in text and "standby's" not in text
    assert "recovery 1.00 ns" in text
    assert as_json(alone)["returned"] is None


def test_warm_up_compares_the_pool_before_and_after() -> None:
    before = Warmth(-4 * 10**9, 0, 1200.0, 0.9991, 0.25)
    after = (
        Warmth(10**8, 11 * 10**8, 400.0, 0.5, 12.0),
        Warmth(11 * 10**8, 21 * 10**8, 900.0, 0.99, None),
    )
    text = list(result_text(replace(FOUND, warm_up=WarmUp(before, after))))
    assert (
        "hits of the buffer pool: 99.91 % before the event; after the failover 50.00 % until "
        "1.1 s, 99.00 % until 2.1 s"
    ) in text
    assert (
        "reads from the drive per commit: 0.25 before the event; after the failover 12 until "
        "1.1 s, – until 2.1 s"
    ) in text
    assert as_json(replace(FOUND, warm_up=WarmUp(before, after)))["warm_up"]["after"]
