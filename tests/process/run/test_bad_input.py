"""Bad input: message with place, exit status 2, and no files created."""

import pytest
from command import SMALL, tameshi

CASES = [
    ("misspelled key", lambda t: t.replace("interval", "intervall"), [], "run.intervall"),
    ("no toml", lambda t: t + "]", [], "small.toml:"),
    (
        "unknown profile",
        lambda t: t.replace("sas-15k", "sas-16k"),
        [],
        "did you mean `sas-15k-146gb`",
    ),
    (
        "engine",
        lambda t: t + "[engine.mysql]\n",
        [],
        "small.toml:22:9: the simulated world can't run this: no phase runs a program on it",
    ),
    (
        "array",
        lambda t: t.replace(
            'device = "sas-15k-146gb"', 'raid5 = { members = 2, device = "sas-15k-146gb" }'
        ),
        [],
        "storage.disk.raid5.members",
    ),
    (
        "event",
        lambda t: t + '[event.cut]\nat = "100 ms"\nfailover = {}\n',
        [],
        "`failover` is an event of a database, and no phase runs a program",
    ),
    ("unbound", lambda t: t, ["--world", "measured"], "--on disk=PATH"),
    ("unknown storage", lambda t: t, ["--world", "measured", "--on", "disc=/tmp"], "disk=PATH"),
    (
        "bound twice",
        lambda t: t,
        ["--world", "measured", "--on", "disk=/a", "--on", "disk=/b"],
        "bound twice",
    ),
    ("not a binding", lambda t: t, ["--world", "measured", "--on", "disk"], "NAME=VALUE"),
    ("bound for nothing", lambda t: t, ["--on", "disk=/tmp"], "--world measured"),
    ("unknown world", lambda t: t, ["--world", "imagined"], "imagined"),
    ("foreign target", lambda t: t, ["--world", "measured", "--on", "disk={study}"], "small.toml"),
    ("language", lambda t: t, ["--lang", "fr"], "en or ja"),
]


@pytest.mark.parametrize(
    ("change", "options", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_bad_input_creates_nothing(study, tmp_path, change, options, expected):
    path = study(change(SMALL))
    before = sorted(tmp_path.rglob("*"))
    options = [option.replace("{study}", str(path)) for option in options]
    done = tameshi("run", path, "--out", tmp_path / "out", *options)
    assert done.returncode == 2, done.stderr
    assert expected in " ".join(done.stderr.split()), done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_missing_study_is_refused(tmp_path):
    done = tameshi("run", tmp_path / "none.toml")
    assert done.returncode == 2
    assert "No such file" in done.stderr


def test_study_in_other_encoding_is_refused_with_line(study, tmp_path):
    path = study()
    head, rest = path.read_bytes().split(b"\n", 1)
    path.write_bytes(head + b"\n# \xe4\n" + rest)
    done = tameshi("run", path, "--out", tmp_path / "out")
    assert done.returncode == 2
    output = " ".join(done.stderr.split())
    assert "small.toml:2: this is no text in UTF-8" in output, output
    assert "byte 0xe4" in output, output
    assert not (tmp_path / "out").exists()


def test_foreign_results_are_not_touched(study, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("years of work")
    for extra in ([], ["--fresh"]):
        done = tameshi("run", study(), "--out", out, *extra)
        assert done.returncode == 2
        assert [p.name for p in out.iterdir()] == ["thesis.txt"]
        assert (out / "thesis.txt").read_text() == "years of work"


def test_a_report_of_no_study_folder_is_refused(tmp_path):
    done = tameshi("report", tmp_path)
    assert done.returncode == 2
    assert "no study folder" in done.stderr
