"""Answer of `tameshi ask` from results."""

from questions import cell, failed, question

from tameshi.analysis.stats import programs
from tameshi.ask import answer
from tameshi.ask.answer import best_of, configurations, document, nearest_of, sensitivity
from tameshi.ask.question import Costs
from tameshi.core.reasons import quoted
from tameshi.report.view.points import read_results

POOLS = [8 << 30, 16 << 30]
RATES = {("disks", 8): 900, ("disks", 16): 21_000, ("card", 8): 26_000, ("card", 16): 30_000}
CELLS = [
    cell({"storage": storage, "buffer_pool": f"{pool} GiB"}, rate, 5e6)
    for (storage, pool), rate in RATES.items()
]


def test_answer_without_prices_is_smallest_pool_meeting_target():
    found = configurations(question(), POOLS, CELLS)
    best = best_of(question(), found)
    assert (best["storage"], best["buffer_pool"]) == ("card", "8 GiB")
    assert (best["limit"], best["limit_share"]) == ("page_reads", 0.7)
    assert best["p99_of"] == "tpcc.new_order"
    assert best["cost"] is None


def test_slower_larger_pool_is_reported_and_keeps_answer():
    rates = {8: 26_000, 16: 19_000}
    cells = [
        cell({"storage": "card", "buffer_pool": f"{pool} GiB"}, rate, 5e6)
        for pool, rate in rates.items()
    ]
    rows = document(question(), configurations(question(), POOLS, cells), [])
    assert rows["best"]["buffer_pool"] == "8 GiB"
    assert rows["falls"] == [{"storage": "card", "meets": "8 GiB", "misses": "16 GiB"}]
    assert document(question(), configurations(question(), POOLS, CELLS), [])["falls"] == []


def test_prices_change_the_answer():
    asked = question(costs=Costs({"disks": 1000.0, "card": 5000.0, "memory": 10.0}))
    best = best_of(asked, configurations(asked, POOLS, CELLS))
    assert (best["storage"], best["buffer_pool"], best["cost"]) == ("disks", "16 GiB", 1160.0)


def test_a_latency_limit_is_part_of_the_target():
    asked = question(target_p99_ns=4_000_000)
    found = configurations(asked, POOLS, CELLS)
    assert best_of(asked, found) is None
    assert nearest_of(found)["qps"]["value"] == 30_000
    rows = configurations(question(target_p99_ns=5_000_000), POOLS, CELLS)
    assert best_of(asked, rows) is not None


def test_slowest_transaction_type_decides_about_limit():
    many = cell({"storage": "card", "buffer_pool": "8 GiB"}, 26_000, 59e6)
    tail = next(
        each
        for each in many["estimates"]
        if (each["subject"], each["metric"]) == ("tpcc.payment", "transaction.latency.p99")
    )
    tail["value"] = 1330e6
    (configuration,) = configurations(question(target_p99_ns=100_000_000), POOLS, [many])
    assert (configuration["p99_of"], configuration["p99"]["value"], configuration["meets"]) == (
        "tpcc.payment",
        1330e6,
        False,
    )


def test_counted_transaction_type_is_deterministic():
    for payment in (1.0, 1.06, 2.0):
        rates = {"tpcc.delivery": 0.1, "tpcc.payment": payment, "tpcc.new_order": 1.0}
        assert programs.chief(rates, "") == "tpcc.new_order"
    assert programs.chief({"ycsb.read": 9.0, "ycsb.update": 1.0}, "") == "ycsb.read"
    assert programs.chief({}, "oltp") == "oltp"


def test_failed_cell_misses_target_and_is_reported():
    without = failed({"storage": "disks", "buffer_pool": "8 GiB"}, "no memory.")
    (configuration,) = configurations(question(), POOLS, [without])
    why = [quoted("no memory.")]
    assert (configuration["meets"], configuration["reasons"]) == (None, why) and nearest_of(
        [configuration]
    ) is None
    left = document(question(), [configuration], [], answer.failed([configuration]))["left_out"]
    assert left == [{"storage": "disks", "level": "8 GiB", "reasons": why}]


def test_interrupted_run_is_not_left_out():
    stopped = failed({"storage": "disks", "buffer_pool": "8 GiB"}, "stopped before its end")
    stopped["runs"] = {"complete": 0, "partial": 1, "failed": 0}
    (configuration,) = configurations(question(), POOLS, [stopped])
    assert configuration["meets"] is None and answer.failed([configuration]) == []


def test_most_sensitive_input_comes_first():
    asked = question()
    rates = {
        "redo_log 1 GiB": 19_000,
        "redo_log 4 GiB": 21_000,
        "row_size × 0.8": 26_000,
        "row_size × 1.25": 14_000,
    }
    found = sensitivity(asked, [cell({"input": name}, rate, 5e6) for name, rate in rates.items()])
    rows = document(asked, configurations(asked, POOLS, CELLS), found)["sensitivity"]
    assert [row["input"] for row in rows] == ["row_size", "redo_log"]
    assert [rows[1][end]["meets"] for end in ("low", "high")] == [False, True]
    assert rows[1]["low"]["label"] == "1 GiB"
    half = sensitivity(asked, [cell({"input": "redo_log 1 GiB"}, 1, 1)])
    assert half == [], "an input with one end says nothing"


def test_nearest_limit_decides_and_orders_inputs():
    tails = {
        "redo_log 1 GiB": 9e6,
        "redo_log 4 GiB": 3e6,
        "row_size × 0.8": 5e6,
        "row_size × 1.25": 6e6,
    }
    cells = [cell({"input": name}, 30_000, p99) for name, p99 in tails.items()]
    for limit, key, first in ((5_500_000, "p99", "redo_log"), (50_000_000, "qps", "redo_log")):
        asked = question(target_p99_ns=limit)
        found = configurations(asked, POOLS, CELLS)
        content = document(asked, found, sensitivity(asked, cells))
        assert (content["decides"], content["sensitivity"][0]["input"]) == (key, first)


def test_answer_document_has_keys_of_report():
    asked = question()
    rows = document(asked, configurations(asked, POOLS, CELLS), [])
    assert rows["best"]["storage"] == "card"
    assert read_results({"asked": rows}).asked == rows
