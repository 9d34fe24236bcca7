"""Model error of document stores, which have no validation."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from tameshi.analysis import database_error
from tameshi.analysis.database_error import DOCUMENTS
from tameshi.analysis.database_facts import Facts
from tameshi.analysis.document_store import arrives, facts_of_store
from tameshi.analysis.evidence import NOTHING
from tameshi.analysis.model_error import interval
from tameshi.analysis.stats.estimates import WindowData
from tameshi.core.data import STUDIES
from tameshi.report.sections import database
from tameshi.report.words.text import Text
from tameshi.study.file import StudyFile, plan, read_study

STUDY = read_study(STUDIES / "flash-card-review-applications.toml")
CARD = Facts("merge tree", DOCUMENTS, "flash", 64, 1, 1)
SECOND = 10**9


def documents(text: str = STUDY.text):
    """Return a run of the document store, and its phase."""
    study = StudyFile(STUDY.name, Path(STUDY.path), text)
    runs = plan(study, "simulated", quick=False).runs
    run = next(run for run in runs if run.cell["test"] == "documents")
    return run, run.phases[0]


def window(**counts: float) -> WindowData:
    counters = {f"{kind}.count": [count] for kind, count in counts.items()}
    return WindowData(SECOND, [SECOND], counters, {})


def test_phase_with_a_merge_tree_is_a_document_store():
    run, phase = documents()
    facts = facts_of_store(run, phase, "card")
    assert (facts.workload, facts.storage, facts.clients) == (DOCUMENTS, "flash", 4 * 16)
    assert facts.pool_share == 1.0, "its caches are left out"
    queries = [stream for stream in phase.streams if stream.name == "queries"]
    alone = phase.model_copy(update={"streams": queries})
    assert facts_of_store(run, alone, "card") is None


def test_store_is_validated_only_by_its_fitted_mean():
    metrics = ("read.latency.mean", "read.latency.p99", "commit.rate", "commit.latency.mean")
    mean, tail, rate, commit = (interval(metric, 100.0, CARD) for metric in metrics)
    assert (mean.inside_range, mean.fitted_on) == (True, "S1-0110")
    for each in (tail, rate, commit):
        assert (each.inside_range, each.fitted_on, each.low < 25) == (False, "", True)
    assert {each.validated_on for each in (mean, tail, rate, commit)} == {NOTHING}
    disk = Facts(*("merge tree", DOCUMENTS, "hdd", 64, 1, 1))
    assert not interval("read.latency.mean", 100.0, disk).inside_range


def test_figures_of_servers_and_stores_do_not_validate_each_other():
    assert all(row.facts.workload != DOCUMENTS for row in database_error.known())
    assert interval("commit.rate", 100.0, CARD).validated_on == NOTHING
    assert database_error.family_of("drive.life_years", DOCUMENTS) == "life"


def test_commits_and_reads_do_not_exceed_arrivals():
    _, phase = documents()
    stored, asked = phase.streams
    entry = arrives(stored, [window(commit=3900, write=9000, read=50)])
    assert entry.whole == ("commit.rate",) and entry.times == pytest.approx(4000 / 3900)
    entry = arrives(asked, [window(read=4000)])
    assert entry.whole == ("read.iops", "read.bandwidth") and entry.times == 1.0
    assert arrives(asked, [window(read=3000, write=1000)]) is None
    _, closed = documents(re.sub(r"(?m)^arrivals .*$", "", STUDY.text))
    assert all(arrives(stream, [window(read=1, commit=1)]) is None for stream in closed.streams)


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_report_shows_missing_evidence(lang):
    text = Text(lang)
    estimates = [
        {"metric": metric, "subject": "s", "model": interval(metric, 9.0, CARD).as_json()}
        for metric in ("commit.rate", "read.latency.mean")
    ]
    levels = {"world": "simulated", "phase": "documents", "levels": {"card": "a"}}
    view = SimpleNamespace(cells=[{**levels, "estimates": estimates}], points=[])
    (table,) = database.tables(view, text)
    assert [cell.value for row in table.rows for cell in row.cells] == [
        *(text("value.no"), text("modelled.nothing")),
        *(text("modelled.fitted", names="S1-0110"), text("modelled.nothing")),
    ]
