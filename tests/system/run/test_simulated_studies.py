"""Ready studies of databases, simulated at quick size: rates, ratios and the answer in words."""

import re

import pytest
from command import results, tameshi

from tameshi.core.data import STUDIES

pytestmark = pytest.mark.timeout(600)


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("mysql-disk-or-flash", "transaction.tpmc"),
        ("pcie-ssd-mysql", "transaction.rate"),
        ("key-update", "transaction.rate"),
        ("pcie-ssd-mysql-failure", "transaction.tpmc"),
        ("raid1-failure-under-tpcc", "transaction.tpmc"),
        ("atomic-write-under-power-cuts", "transaction.rate"),
        ("mirrored-ha", "transaction.rate"),
        ("standby-cost", "transaction.rate"),
        ("pcie-ssd-mysql-atomic", "transaction.tpmc"),
    ],
)
def test_study_of_real_servers_is_simulated_unchanged(name, metric, quick_study):
    planned = tameshi("plan", STUDIES / f"{name}.toml", "--world", "simulated")
    assert planned.returncode == 0, planned.stderr
    assert "can't be run" not in planned.stdout, planned.stdout
    made = quick_study(name)
    for cell in results(made.folder)["cells"]:
        assert cell["runs"]["complete"] == 1
        found = {e["metric"]: e["value"] for e in cell["estimates"]}
        assert found[metric] > 0 or cell["phase"] != "tpcc", cell["levels"]
    answer_says(FIRST.get(name, []), made.printed)


VALUE = r"[\d.]+(?: k)?(?: \([^()]*\))?"
FACTOR = r"[\d.]+ ×(?: \([^()]*\))?"
TIME = r"[\d.]+ [mµ]s"
MAKES = f"makes {VALUE} transactions per second, {FACTOR} the {VALUE} of"
AWAY = (
    r"ha: service stops for 2\.\d\d s \(model [\d.–]+ s\) and reaches 90 % of its rate "
    r"after [2-5]\.\d\d s \(model [\d.–]+ s\)"
)
YEARS = r"[\d.]+ \(model [\d.–]+\)"
FAILED_AND_REBUILT = [
    f"{storage} · phase {phase} {MAKES} normal"
    for storage in ("SATA", "PCI Express")
    for phase in ("failed", "rebuilding")
]
FIRST = {
    "mirrored-ha": [
        r"Against on memory, on memory pair: [\d.]+ × \((optane|nand)\) to [\d.]+ ×",
        r"; ha: [\d.]+ × ",
        r"Against optane, nand: [\d.]+ × ",
        f"[Oo]ptane · {AWAY}",
        f"nand · {AWAY}",
    ],
    "standby-cost": [
        r"Against single, asynchronous: 0\.\d+ × ",
        r"semi synchronous: 0\.\d+ × ",
        r"block mirror: 0\.\d+ × ",
        r"None of [\d,]+ acknowledged commits was lost \(failovers: 6\)",
        r"the service was back after 1\.\d\d",
    ],
    "pcie-ssd-mysql": [
        r"Mean response time, scan — .*Against SATA, PCI Express: [^;]+, [\d.]+ m?s for [\d.]+ m?s",
        r"\(TpmC\), TPC-C — .*Against SATA, PCI Express: [\d.]+ ×",
    ],
    "pcie-ssd-mysql-failure": FAILED_AND_REBUILT,
    "raid1-failure-under-tpcc": FAILED_AND_REBUILT,
    "atomic-write-under-power-cuts": [
        r"[Pp]ages twice, drive units: none of 5 power cuts broke a page, and the database "
        "started after each",
        r"pages once, drive whole: none of 5 power cuts broke a page, and the database "
        "started after each",
        r"pages once, drive units: [1-5] of 5 power cuts broke pages \(\d+\), and the database "
        "started after [0-4] of 5",
        r"Pages once yields 1\.\d+ × the transactions of twice",
    ],
    "pcie-ssd-mysql-atomic": [
        f"[Pp]ages once {MAKES} twice",
        rf"with pages once the drive lasts {YEARS} years, {FACTOR} the {YEARS} of twice",
    ],
    "flash-card-review-applications": [
        *(
            rf"[Cc]ard {card} yields [\d.]+ × the transactions of"
            for card in ("es3000-1.2t", "p320h-700g")
        ),
        r"threads 32 yields [\d.]+ × the transactions of 2",
        *(
            rf"documents · card {card} takes {TIME} per read or write, {FACTOR} the {TIME}"
            for card in ("es3000-1.2t", "p320h-700g")
        ),
    ],
}


def answer_says(patterns, shown):
    """Assert that the printed answer contains each."""
    for pattern in patterns:
        assert re.search(pattern, shown), (pattern, shown)


def test_cards_are_compared_by_transactions_and_documents(quick_study):
    name = "flash-card-review-applications"
    answer_says(FIRST[name], quick_study(name).printed)


def test_failing_mirrors_have_three_tpcc_mysql_reports(quick_study):
    folder = quick_study("raid1-failure-under-tpcc").folder
    reports = tameshi("report", folder, "--format", "tpcc-mysql").stdout
    headings = [
        f"'storage {storage}, {phase}, run 1'"
        for storage in ("sata", "pcie")
        for phase in ("normal", "failed", "rebuilding")
    ]
    places = [reports.index(heading) for heading in headings]
    assert places == sorted(places) and len(re.findall(r"[\d.]+ TpmC\n", reports)) == 6
    tpmc = {
        (cell["levels"]["storage"], cell["phase"]): estimate["value"]
        for cell in results(folder)["cells"]
        for estimate in cell["estimates"]
        if estimate["metric"] == "transaction.tpmc"
    }
    # A mirror reads from both members, and a rebuild takes more from slow drives than from fast.
    assert tpmc["sata", "rebuilding"] < 0.7 * tpmc["sata", "normal"]
    assert tpmc["pcie", "rebuilding"] > 0.9 * tpmc["pcie", "normal"]


def test_standby_takeover_ratios_are_next_to_published(quick_study):
    out = quick_study("mirrored-ha").folder
    found = results(out)
    ratios = {row["id"]: row["predicted"] for row in found["published"]}
    assert set(ratios) == {"S3-0001", "S3-0002", "S3-0003", "S3-0006"}
    # The quick pair's second drive costs less than the rounding.
    assert 0 < ratios["S3-0001"] <= 1 < ratios["S3-0002"]
    pair = [
        cell
        for cell in found["cells"]
        if cell["levels"]["configuration"] == "ha" and cell["phase"] == "failover"
    ]
    assert len(pair) == 2
    for cell in pair:
        (crash,) = [event for event in cell["database"] if event["kind"] == "crash"]
        (outage,) = [event["outage"] for event in cell["database"] if event["kind"] == "outage"]
        assert crash["how"] == "failover"
        assert outage["first_success_ns"] - outage["first_error_ns"] > 1e9
    others = [cell for cell in found["cells"] if cell not in pair]
    kinds = {event["kind"] for cell in others for event in cell["database"]}
    assert not kinds & {"crash", "outage"}, "they stand where they happened alone"
    page = (out / "report.html").read_text()
    assert re.search(r"failover to the standby at [^;]*; the server answered again", page)
    for phase in ("update", "failover"):
        assert f"{phase}: dirty pages in the buffer pool over time" in page.lower()
        assert f"{phase}: checkpoint age" in page.lower()
