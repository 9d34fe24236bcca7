"""Commands that find things: ready studies, new studies, the reference."""

import json
from pathlib import Path

import pytest
from command import tameshi

from tameshi.study.file import ready_names


def test_studies_lists_each_with_question_and_time() -> None:
    done = tameshi("studies")
    assert done.returncode == 0
    for name in ready_names():
        assert f"\n{name}, " in f"\n{done.stdout}", name
    assert "document, up to 72 min" in done.stdout


def test_json_of_studies_holds_times_and_answers() -> None:
    listed = {study["name"]: study for study in json.loads(tameshi("studies", "--json").stdout)}
    assert sorted(listed) == ready_names()
    first = listed["first-look"]
    assert first["processor_s"] > 0 and first["planned_s"] is None and first["answer"]
    assert listed["pts-div"]["quick"] and not first["quick"]
    assert Path(first["path"]).is_file()


def test_new_study_plans_and_is_not_overwritten(tmp_path: Path) -> None:
    done = tameshi("init", "mine", cwd=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "Written: mine.toml")
    assert tameshi("plan", "mine.toml", cwd=tmp_path).returncode == 0
    text = (tmp_path / "mine.toml").read_text(encoding="utf-8")
    for name in ("mine", "mine.toml"):
        again = tameshi("init", name, "--like", "first-look", cwd=tmp_path)
        assert (again.returncode, again.stdout) == (2, "")
        assert "mine.toml: this is not overwritten." in again.stderr
    assert (tmp_path / "mine.toml").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("a", "--like", "frist-look"), "--like: there is no ready study of this name. Found: "),
        (("a", "--like", "frist-look"), "Accepted: first-look"),
        (("no/folder/a",), "no/folder/a.toml: "),
        (("folder/",), "NAME: this names no study. Found: folder/."),
    ],
)
def test_init_refuses_what_cannot_be_written(
    words: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    done = tameshi("init", *words, cwd=tmp_path)
    assert done.returncode in (1, 2) and message in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_init_leaves_a_link_to_nothing_alone(tmp_path: Path) -> None:
    (tmp_path / "a.toml").symlink_to(tmp_path / "b.toml")
    assert tameshi("init", "a", cwd=tmp_path).returncode == 2
    assert not (tmp_path / "b.toml").exists()


def test_explain_shows_key_and_metric() -> None:
    shown = tameshi("explain", "engine.mysql.buffer_pool").stdout
    assert "place    engine.mysql.buffer_pool" in shown and "innodb_buffer_pool_size" in shown
    assert "read latency, 99th percentile" in tameshi("explain", "read.latency.p99").stdout
    many = tameshi("explain", "rate").stdout
    assert "\nalso:\n" in many and "workload.tpcc.rate" in many
    (entry,) = json.loads(tameshi("explain", "read.iops", "--json").stdout)
    assert (entry["entry"], entry["kind"], entry["better"]) == ("metric", "rate", "higher")


def test_explain_suggests_names_like_an_unknown_one() -> None:
    done = tameshi("explain", "buffer_pol")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Found: buffer_pol. Accepted: buffer_pool" in done.stderr
