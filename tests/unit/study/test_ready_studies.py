"""Ready studies: their list with times, and new studies after them."""

import re
import tomllib
from pathlib import Path

import pytest

from tameshi.core.data import STUDIES, STUDY_SCHEMA
from tameshi.study.file import StudyFile, plan, read_study, ready_names, refusals
from tameshi.study.ready import Ready, duration, ready
from tameshi.study.starter import starter


def test_every_ready_study_has_question_and_time() -> None:
    studies = ready()
    assert [study.name for study in studies] == sorted(path.stem for path in STUDIES.glob("*.toml"))
    for study in studies:
        assert study.question.endswith("?"), study.name
        assert (study.processor_s is None) != (study.planned_s is None), study.name
        assert study.time()


def test_planned_time_is_that_of_the_plan() -> None:
    planned = [study for study in ready() if study.planned_s is not None]
    assert [study.name for study in planned] == ["document"]
    for study in planned:
        limit_ns = plan(read_study(Path(study.name)), study.world, quick=False).time_ns_at_most
        assert limit_ns == (study.planned_s or 0) * 10**9


def test_time_is_in_words() -> None:
    study = Ready("a", Path("a.toml"), "A", "Why?")
    assert study.time() == ""
    assert Ready("a", Path(), "A", "Why?", processor_s=8, is_quick=True).time() == "8 s (--quick)"
    assert Ready("a", Path(), "A", "Why?", planned_s=4320).time() == "up to 72 min"
    assert (duration(119), duration(120)) == ("119 s", "2 min")


@pytest.mark.parametrize("name", ready_names())
def test_study_after_a_ready_one_plans_alike(name: str) -> None:
    like = read_study(Path(name))
    text = starter("mine", name, like.text)
    assert tomllib.loads(text) == tomllib.loads(like.text)
    planned = plan(StudyFile("mine", Path("mine.toml"), text), "simulated", quick=True)
    expected = plan(like, "simulated", quick=True)
    assert len(planned.runs) == len(expected.runs) > 0
    assert len(refusals(planned)) == len(refusals(expected))
    assert refusals(planned) == [] or name == "document"


def test_comments_name_commands_and_explain_tables() -> None:
    like = read_study(Path("drive-or-memory"))
    lines = starter("mine", "drive-or-memory", like.text).splitlines()
    assert lines[0] == f"#:schema {STUDY_SCHEMA.as_uri()}"
    assert lines[1].startswith("# mine: ") and "drive-or-memory" in lines[1]
    assert any("tameshi run mine.toml --world measured --on sata=PATH" in line for line in lines)
    for table, meaning in (
        ("[engine.mysql]", "# engine.mysql: MySQL. Settings of an engine"),
        ("[run]", "# run: Settings of the runs."),
    ):
        before = lines[: lines.index(table)]
        assert any(line.startswith(meaning) for line in before[before.index("") :])
    comments = [line for line in lines if re.match("# [a-z]", line) and line not in like.text]
    assert max(map(len, comments)) <= 100


def test_comment_stands_above_the_comments_of_the_study() -> None:
    text = "# Own words.\n[run]\nseed = 1\n\n[run.more]\n"
    assert starter("a", "b", text).splitlines()[-6:] == [
        "# run: Settings of the runs.",
        "# Own words.",
        "[run]",
        "seed = 1",
        "",
        "[run.more]",
    ]
