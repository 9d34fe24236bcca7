"""Job files and command lines in fio's syntax."""

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tameshi.core.errors import BadInput
from tameshi.fio import (
    JobText,
    Setting,
    formats_of,
    parse_arguments,
    parse_job_text,
    read_job_file,
    write_jobs,
)

WORDS = st.text(string.ascii_letters + string.digits + "_-./", min_size=1, max_size=12)
KEYS = st.text(string.ascii_lowercase + "_", min_size=1, max_size=12).filter(
    lambda key: key != "include"
)
VALUES = st.none() | st.text(string.ascii_letters + string.digits + ":,/.%\\=-", max_size=20)
SETTINGS = st.lists(st.builds(Setting, KEYS, VALUES, st.just("")), max_size=5).map(tuple)
NAMES = WORDS.filter(lambda name: name != "global")


@st.composite
def job_lists(draw):
    """Generate jobs whose globals grow from one to the next, as those of a file do."""
    shared, jobs = (), []
    for _ in range(draw(st.integers(0, 4))):
        shared = (*shared, *draw(SETTINGS))
        jobs.append(JobText(draw(NAMES), "", shared, draw(SETTINGS)))
    return jobs


def bare(jobs):
    """Return jobs without their places."""

    def settings(each):
        return [(setting.key, setting.value) for setting in each]

    return [(job.name, settings(job.shared), settings(job.own)) for job in jobs]


@given(job_lists())
def test_written_jobs_read_back_equal(jobs):
    assert bare(parse_job_text(write_jobs(jobs))) == bare(jobs)


def test_global_section_applies_below_and_job_overrides():
    jobs = parse_job_text("[a]\nbs=1k\n[global]\nbs=2k\n[b]\n[c]\nbs=3k\n[global]\nrw=write\n[d]\n")
    found = {job.name: {s.key: s.value for s in (*job.shared, *job.own)} for job in jobs}
    expected = {"a": {"bs": "1k"}, "b": {"bs": "2k"}, "c": {"bs": "3k"}}
    assert found == expected | {"d": {"bs": "2k", "rw": "write"}}


def test_comments_end_a_line_and_a_bare_key_has_no_value():
    text = "; one\n# two\n[a] \n time_based \nsize = 102404k ; 100Mb+4k\nrw=read#x\n"
    (job,) = parse_job_text(text)
    assert [(s.key, s.value) for s in job.own] == [
        ("time_based", None),
        ("size", "102404k"),
        ("rw", "read"),
    ]


def test_variables_and_keywords_are_expanded(monkeypatch):
    environment = {"SIZE": "64m"}
    (job,) = parse_job_text(
        "[a]\nsize=${SIZE}\nname=x${NOTHING}y\nbs=8*$pagesize\nnumjobs=$ncpus\n", "j", environment
    )
    values = {setting.key: setting.value for setting in job.own}
    assert values["size"] == "64m" and values["name"] == "xy"
    assert int(values["bs"]) % 8 == 0 and int(values["bs"]) >= 8 * 4096
    assert int(values["numjobs"]) >= 1


def test_includes_are_relative_to_including_file(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "more.fio").write_text("bs=16k\ninclude last.fio\n")
    (tmp_path / "deep" / "last.fio").write_text("iodepth=4\n")
    (tmp_path / "job.fio").write_text("[a]\nrw=read\ninclude deep/more.fio\n")
    (job,) = read_job_file(tmp_path / "job.fio")
    assert [setting.written() for setting in job.own] == ["rw=read", "bs=16k", "iodepth=4"]
    assert job.own[2].where == f"{tmp_path}/deep/last.fio:1"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bs=4k\n", "job.fio:1: a setting before the first section."),
        ("[a\n", "job.fio:1: not a section header."),
        ("[a]\n=4k\n", "job.fio:2: a setting without a key."),
        ("[a]\ninclude nowhere.fio\n", "nowhere.fio: cannot be read: No such file or directory."),
    ],
)
def test_invalid_job_file_is_refused_at_its_line(text, said):
    with pytest.raises(BadInput) as refused:
        parse_job_text(text)
    assert str(refused.value).startswith(said)


def test_include_cycle_is_an_error(tmp_path):
    (tmp_path / "job.fio").write_text("[a]\ninclude own.fio\n")
    (tmp_path / "own.fio").write_text("include own.fio\n")
    with pytest.raises(BadInput, match="in a cycle"):
        read_job_file(tmp_path / "job.fio")


def test_arguments_take_one_dash_and_a_blank():
    words = "-name=a -rw read -time_based job.fio --group_reporting -name b --direct --bs 4k"
    first, jobs, files = parse_arguments(words.split())
    assert (first, files) == ([], [Path("job.fio")])
    assert bare(jobs) == [
        ("a", [], [("rw", "read"), ("time_based", None), ("group_reporting", None)]),
        ("b", [], [("direct", None), ("bs", "4k")]),
    ]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], ["normal"]),
        (["normal,json"], ["json", "normal"]),
        (["json", "json+"], ["json+"]),
        (["normal", "terse"], ["terse", "normal"]),
    ],
)
def test_formats_are_printed_in_order_of_fio(words, expected):
    assert formats_of(words) == expected


def test_arguments_hold_jobs_files_and_defaults():
    first, jobs, files = parse_arguments(
        ["--size=1m", "x.fio", "--name=a", "--bs=8k", "--direct", "--name", "b", "--rw=write"]
    )
    assert [setting.written() for setting in first] == ["size=1m"]
    assert bare(jobs) == [
        ("a", [], [("bs", "8k"), ("direct", None)]),
        ("b", [], [("rw", "write")]),
    ]
    assert files == [Path("x.fio")]
