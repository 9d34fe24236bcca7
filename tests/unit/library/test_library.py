"""Python library: studies, results as frames, devices."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import plotly.graph_objects as go
import pytest
from command import SMALL, results, tameshi

import tameshi as tm
from tameshi.core.errors import StudyError
from tameshi.core.toml_text import document
from tameshi.library.frames import published_frame
from tameshi.study.changes import changed
from tameshi.study.file import read_study, ready_names


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tm.Results:
    """Run the small study by the library."""
    place = tmp_path_factory.mktemp("library")
    return tm.Study.from_text(SMALL, "small").run(out=place / "out")


def test_import_loads_no_library() -> None:
    script = "import sys, tameshi; print([m for m in sys.modules if m.startswith('tameshi')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "['tameshi']", done.stderr


def test_public_names_exist_and_others_do_not() -> None:
    assert all(getattr(tm, name) for name in tm.__all__)
    assert set(tm.__all__) <= set(dir(tm))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        tm.nothing  # noqa: B018
    assert (Path(tm.__file__).parent / "py.typed").exists()


def test_ready_studies_are_a_frame() -> None:
    assert tm.studies()["name"].to_list() == ready_names()


def test_unknown_study_is_refused_with_names_like_it() -> None:
    with pytest.raises(tm.BadInput, match="first-look"):
        tm.Study.load("frist-look")


@pytest.mark.parametrize("name", ready_names())
def test_document_of_settings_reads_back(name: str) -> None:
    settings = tomllib.loads(read_study(Path(name)).text)
    assert tomllib.loads(document(settings)) == settings


def test_changes_merge_tables_and_replace_values() -> None:
    before = {"a": {"b": 1, "c": {"d": 2}}, "e": [1, 2], "f": 1}
    after = changed(before, {"a.c.x": 3, "e": (3,), "f": None, "new": {"y": {"z": 1}}})
    assert after == {"a": {"b": 1, "c": {"d": 2, "x": 3}}, "e": [3], "new": {"y": {"z": 1}}}
    assert before == {"a": {"b": 1, "c": {"d": 2}}, "e": [1, 2], "f": 1}
    assert changed({"a": 1}, {"a.b": 2}) == {"a": {"b": 2}}
    for place in ("", ".a", "a."):
        with pytest.raises(tm.BadInput, match="no place"):
            changed({}, {place: 1})


def test_changed_study_has_a_name_of_its_own_and_plans() -> None:
    study = tm.Study.from_text(SMALL, "small")
    other = study.with_({"run.repetitions": 3}, title="Other")
    again = other.with_()
    assert other.name != study.name and other.name.startswith("small-")
    assert again.name == other.name == study.with_(run={"repetitions": 3}, title="Other").name
    assert study.plan().runs.height == 4 and other.plan().runs.height == 6
    runs = other.plan().runs
    assert runs["read"].unique().sort().to_list() == ["0 %", "100 %"]
    assert runs["repetition"].unique().sort().to_list() == [0, 1, 2]


def test_error_of_a_changed_study_has_its_place() -> None:
    with pytest.raises(StudyError) as refused:
        tm.Study.from_text(SMALL, "small").with_({"storage.disk.device": "none"}).plan()
    assert "small-" in refused.value.where and "none" in str(refused.value)


def test_plan_has_bounds_and_refusals() -> None:
    plan = tm.Study.from_text(SMALL, "small").plan()
    assert plan.time_s_at_most == pytest.approx(4 * 2 * 0.12)
    assert plan.refusals == [] and "<table" in plan._repr_html_()
    assert len(tm.Study.load("document").plan(quick=True).refusals) > 0


def test_results_equal_those_of_the_command(small: tm.Results, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    done = tameshi("run", tmp_path / "small.toml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert results(tmp_path / "out") == small.document == results(small.folder)
    opened = tm.open(tmp_path / "out")
    assert opened.document == small.document and opened.complete
    alone = tm.open(tmp_path / "out" / "results.json")
    assert alone.estimates().equals(small.estimates())


def test_options_of_worlds_are_checked_before_any_run(tmp_path: Path) -> None:
    study = tm.Study.from_text(SMALL, "small")
    with pytest.raises(tm.BadInput, match="measured and emulated runs only"):
        study.run(on={"disk": tmp_path}, out=tmp_path / "out")
    with pytest.raises(ValueError, match="nowhere"):
        study.run("nowhere")
    assert not (tmp_path / "out").exists()


def test_cells_and_estimates_are_rows_of_results(small: tm.Results) -> None:
    cells = small.cells
    assert cells.height == len(small.document["cells"]) == 4
    assert {"world", "phase", "read", "depth", "verdict", "complete"} <= set(cells.columns)
    assert cells["complete"].to_list() == [2] * 4
    frame = small.estimates("read.iops")
    (cell,) = (
        cell
        for cell in small.document["cells"]
        if cell["levels"] == {"read": "100 %", "depth": "4"}
    )
    (known,) = (e for e in cell["estimates"] if (e["metric"], e["window"]) == ("read.iops", "p"))
    (row,) = frame.filter(read="100 %", depth="4", window="p").to_dicts()
    assert (row["value"], row["unit"]) == (known["value"], "1/s")
    assert (row["low"], row["high"]) == (known["sampling"]["low"], known["sampling"]["high"])
    assert small.estimates("read.iops", subject="none").is_empty()


def test_series_count_every_operation_of_the_histogram(small: tm.Results) -> None:
    series = small.series("read.count")
    assert set(series["metric"]) == {"read.count"} and series["dt_s"].max() <= 0.0101
    histogram = small.histogram("read")
    assert set(histogram["operation"]) == {"read"} and set(histogram["part"]) == {"steady"}
    assert (histogram["latency_ns"] > 0).all()
    in_steady = histogram["count"].sum()
    assert 0.5 * series["value"].sum() < in_steady <= series["value"].sum()


def test_comparison_with_itself_finds_nothing(small: tm.Results) -> None:
    frame = small.compare(small)
    assert set(frame["outcome"]) == {"same"} and set(frame["read"]) == {"0 %", "100 %"}


def test_plots_are_plotly_figures_without_names_of_colours(small: tm.Results) -> None:
    plots = small.plots()
    assert "rate-p" in plots and all(isinstance(plot, go.Figure) for plot in plots.values())
    assert "var(--" not in "".join(plot.to_json() for plot in plots.values())


def test_notebook_shows_question_and_answer(small: tm.Results) -> None:
    html = small._repr_html_()
    assert "Does it run?" in html and small.answers[0][:20] in html
    assert "<pre>" in tm.Study.from_text(SMALL, "small")._repr_html_()
    assert small.report().name == "report.html"


def test_axis_named_like_a_column_has_a_prefix(tmp_path: Path) -> None:
    text = SMALL.replace("[axis.depth]", "[axis.value]").replace("repetitions = 2", "")
    frame = tm.Study.from_text(text, "named").run(out=tmp_path / "out").estimates("read.iops")
    assert set(frame["axis.value"]) == {"1", "4"} and frame["value"].dtype.is_float()


def test_device_is_refused_if_unknown() -> None:
    with pytest.raises(tm.BadInput, match="es3000"):
        tm.Device("es3000-9t")


def test_lists_of_a_device_are_axes() -> None:
    study = tm.Device("es3000-1.2t").study(["random", "sequential"], depth=[1, 8], read=0.7)
    runs = study.plan().runs
    assert runs.height == 4 and set(runs["pattern"]) == {"random", "sequential"}
    assert 'read = "70 %"' in study.text
    assert tm.Device("sas-6x146gb-raid10").study().plan().runs.height == 1


def test_device_runs_and_resumes(tmp_path: Path) -> None:
    drive = tm.Device("sas-15k-146gb")
    first = drive.run(depth=4, time="500 ms", out=tmp_path / "out")
    again = drive.run(depth=4, time="500 ms", out=tmp_path / "out")
    assert first.document == again.document
    assert 200 < first.estimates("read.iops")["value"][0] < 1000


def test_published_figures_are_next_to_ours(small: tm.Results) -> None:
    assert small.published.is_empty() and "ratio" in small.published.columns
    figure = {"id": "S2-0019", "cell": {"size": "80", "metric": "x"}, "phase": "run"}
    figure |= {"metric": "statement.rate", "subject": None, "window": None, "unit": "query/s"}
    both = {"published": 100.0, "predicted": 120.0, "low": 60.0, "high": 240.0}
    absent = {"published": None, "predicted": None, "low": None, "high": None}
    first, second = published_frame([figure | both, figure | absent]).to_dicts()
    assert (first["size"], first["axis.metric"], first["metric"]) == ("80", "x", "statement.rate")
    assert (first["published"], first["value"], first["ratio"]) == (100, 120, 1.2)
    assert (first["model_low"], first["model_high"], second["ratio"]) == (60, 240, None)


@pytest.mark.slow("fits a model to simulated results")
def test_calibrated_drive_predicts_and_serves_in_studies(tmp_path: Path) -> None:
    load = {"depth": [1, 4, 16, 64], "size": "1 GiB", "time": "300 ms"}
    measured = tm.Device("sata-ssd-480gb").run(**load, out=tmp_path / "measured")
    mine = tm.Calibration.of(measured, name="mine", model="volume", out=tmp_path / "cal")
    assert mine.profile.parent == tmp_path / "cal" / "profiles" / "devices"
    assert mine.report.exists() and mine.cells["held_out"].to_list().count(True) == 1
    assert mine.cells["error"].abs().max() < 0.1
    assert any(line.startswith("Held-out cells: ") for line in mine.answers)
    assert "<b>mine</b>" in mine._repr_html_() and mine.answers[0] in mine._repr_html_()
    again = mine.device.run(depth=[4], size="1 GiB", time="300 ms", out=tmp_path / "again")
    (rate,) = again.estimates("read.iops")["value"]
    (known,) = measured.estimates("read.iops").filter(queue_depth="4")["value"]
    assert rate == pytest.approx(known, rel=0.1)
    study = tm.Study.from_text(SMALL, "small").with_({"storage.disk.device": "mine"})
    with pytest.raises(tm.BadInput, match="mine"):
        study.plan()
    assert study.with_profiles(mine.profile).plan().runs.height == 4


def test_target_of_calibration_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(tm.BadInput, match="no such file or directory"):
        tm.Calibration.of(tmp_path / "nothing", out=tmp_path / "out")
    with pytest.raises(tm.BadInput, match="cannot be measured in this time"):
        tm.Calibration.of(tmp_path, time="1 s", out=tmp_path / "out")
    with pytest.raises(tm.BadInput, match="no-such-drive"):
        tm.Study.from_text(SMALL, "small").with_profiles("no-such-drive")
    assert list(tmp_path.iterdir()) == []
