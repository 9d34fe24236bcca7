"""`tameshi ask` from options to report."""

import json

import pytest
from command import SMALL, results, tameshi

QUESTION = (
    *("ask", "--database-size", "100MB", "--buffer-pool", "8MiB..16MiB"),
    *("--storage", "es3000-1.2t", "--target-qps", "2000", "--clients", "2"),
    *("--redo-log", "32MiB", "--time", "200 ms", "--ramp", "50 ms", "--scale", "1"),
)


def test_repeated_question_runs_nothing(tmp_path):
    out = tmp_path / "out"
    done = tameshi(*QUESTION, "--no-sensitivity", "--out", out)
    assert done.returncode == 0, done.stderr
    assert (
        "The smallest configuration that reaches 2.00 k statements per second is es3000-1-2t"
        in done.stdout
    )
    asked = json.loads((out / "asked.json").read_text())
    assert asked["best"]["buffer_pool"] == "8 MiB"
    assert asked["best"]["qps"]["model"]["low"] < asked["best"]["qps"]["value"]
    found = results(out)
    assert found["asked"] == asked and len(found["cells"]) == 2
    assert all(e["model"] for c in found["cells"] for e in c["estimates"] if 0 < e["value"] < 1)
    before = (out / "results.json").read_bytes()
    again = tameshi(*QUESTION, "--no-sensitivity", "--out", out)
    assert again.returncode == 0, again.stderr
    assert "0 runs to make (2 finished before)" in again.stderr
    assert (out / "results.json").read_bytes() == before
    other = tameshi(*QUESTION, "--no-sensitivity", "--target-qps", "3000", "--out", out)
    assert other.returncode == 2 and "--target-qps 2000, not 3000" in other.stderr
    assert (out / "results.json").read_bytes() == before


def test_uncertain_inputs_of_answer_are_run(tmp_path):
    out = tmp_path / "out"
    done = tameshi(*QUESTION, "--buffer-pool", "8MiB", "--time", "50 ms", "--out", out)
    assert done.returncode == 0, done.stderr
    asked = json.loads((out / "asked.json").read_text())
    assert {row["input"] for row in asked["sensitivity"]} == {"redo_log", "clients", "row_size"}
    assert "sensitivity-plot" in (out / "report.html").read_text()


def test_folder_of_other_study_is_refused_unchanged(study, tmp_path):
    out, small = tmp_path / "out", study(SMALL.replace("repetitions = 2", "repetitions = 1"))
    assert tameshi("run", small, "--out", out).returncode == 0
    before = contents(out)
    refused = tameshi(*QUESTION, "--out", out)
    assert refused.returncode == 2
    for words in ("another study than `asked`", "Found: `small`, Small.", str(out), "--fresh"):
        assert words in refused.stderr
    other = tameshi("run", study(SMALL.replace("Small", "Other"), "other.toml"), "--out", out)
    assert other.returncode == 2 and "another study than `other`" in other.stderr
    assert contents(out) == before
    changed = study(SMALL.replace("repetitions = 2", "repetitions = 1").replace("Small", "New"))
    assert tameshi("run", changed, "--out", out).returncode == 0, "a study may change"
    copied = study((out / "study.toml").read_text(), "copy.toml")
    assert tameshi("run", copied, "--out", out).returncode == 0, "and may be called otherwise"
    fresh = tameshi(*QUESTION, "--no-sensitivity", "--out", out, "--fresh")
    assert fresh.returncode == 0, fresh.stderr


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--database-size", "24", "--database-size: the unit is missing"),
        ("--buffer-pool", "16MiB..8MiB", "--buffer-pool: this range is reversed"),
        ("--storage", "nonesuch", "--storage: no such storage"),
        ("--target-qps", "0", "Found: 0. Accepted: a number above zero, 1,000,000,000 at most."),
        ("--target-qps", "inf", "Found: inf. Accepted: a number above zero"),
        ("--target-qps", "1e300", "Found: 1e+300. Accepted: a number above zero"),
        ("--target-p99", "fast", "Found: fast. Accepted: a number and ns, us, ms, s, min or h"),
        ("--database-size", "1.5gb", "Found: 1.5gb. Accepted: a number and B, KB, MB, GB"),
        (
            "--row-size",
            "1 KiB",
            "--row-size: --row-size does not apply to tpcc: its rows have a fixed size",
        ),
        ("--workload", "document", "--workload: unknown value"),
        ("--engine-version", "3.23", "version"),
        ("--buffer-pool", "4MiB..8MiB", "Found: 4 MiB. Accepted: 5 MiB or more."),
        ("--redo-log", "512KiB", "--redo-log: the server's minimum redo log is 1 MiB"),
        ("--scale", "2", "10 MiB or more"),
    ],
)
def test_bad_questions_are_refused_and_create_nothing(option, value, words, tmp_path):
    from tameshi.commands import cli
    from tameshi.core.errors import BadInput

    words_given = [*QUESTION, option, value, "--out", str(tmp_path / "out")]
    with pytest.raises(BadInput) as caught:
        cli.app(words_given, standalone_mode=False)
    assert words in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_rows_over_half_a_page_are_refused_by_option(tmp_path):
    words = ("--workload", "key_update", "--row-size", "20KB", "--out", tmp_path / "out")
    done = tameshi(*QUESTION, *words)
    assert done.returncode != 0
    assert "--row-size: a row takes at most half a page" in done.stderr
    assert "Accepted: 1 B to 8000 B" in done.stderr
    assert not (tmp_path / "out").exists()


def test_energy_price_without_watts_is_refused(tmp_path):
    prices = ("--price", "cloud-volume-1tb=9", "--price", "energy=0.2")
    storage = ("--storage", "cloud-volume-1tb", *prices)
    done = tameshi(*QUESTION, *storage, "--out", tmp_path / "out")
    assert done.returncode != 0
    assert "--power cloud-volume-1tb=WATTS" in done.stderr
    assert not (tmp_path / "out").exists()
