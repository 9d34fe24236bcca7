"""Functions of one drive: results once per drive, under its name."""

from pathlib import Path

from command import results, tameshi

STUDY = """
title = "Two functions"
question = "Whose is the drive?"
[storage.a]
scale = 64
written = "once"
partition = { drive = "card", of = { device = "es3600p-v3-3.2t" }, functions = 4 }
[storage.b]
scale = 64
written = "once"
partition = { drive = "card", of = { device = "es3600p-v3-3.2t" }, functions = 4 }
[workload.stream.reads]
storage = "a"
queue_depth = 64
[workload.stream.writes]
storage = "b"
queue_depth = 64
read = "0 %"
[phase.both]
workload = ["stream.reads", "stream.writes"]
until = { time = "20 ms" }
[phase.second]
workload = ["stream.writes"]
until.steady = { round = "10 ms", range = "90 %", slope = "90 %", rounds = 2, track = ["iops"] }
[run]
interval = "5 ms"
"""


def test_shared_drive_has_one_row_under_its_name(study, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = tameshi("run", study(STUDY), "--out", out)
    assert done.returncode == 0, done.stderr
    cells = {cell["phase"]: cell for cell in results(out)["cells"]}
    for cell in cells.values():
        (power,) = cell["power"]
        assert (power["drive"], power["capacity_bytes"]) == ("card", 3_200_000_000_000)
        assert power["iops_per_watt"], "whichever function is loaded"
        (flash,) = cell["endurance"]
        assert flash["drive"] == "card" and flash["written_bytes"]
        assert {busy.get("drive") for busy in cell["busy"]} == {"card"}
        assert cell["bottleneck"]["drive"] == "card"
    early = cells["second"]["findings"]
    assert [(finding["code"], finding["subject"]) for finding in early] == [("not_reclaiming", "b")]
    shown = tameshi("report", out, "--format", "md").stdout
    rows = [line for line in shown.splitlines() if line.startswith("| card |")]
    assert len([row for row in rows if "3.20 TB" in row]) == 2


def test_functions_of_one_drive_fail_together(study, tmp_path: Path) -> None:
    text = STUDY.partition("[phase.both]")[0].replace('read = "0 %"', "")
    text += '[phase.p]\nworkload = ["stream.reads", "stream.writes"]\nuntil = { time = "60 ms" }\n'
    text += '[event.dies]\nat = "33 ms"\nphase = "p"\nfail = { storage = "a" }\n'
    text += '[run]\ninterval = "10 ms"\n'
    out = tmp_path / "out"
    done = tameshi("run", study(text), "--out", out)
    assert done.returncode == 0, done.stderr
    (cell,) = results(out)["cells"]
    dead = {f["subject"]: f["figures"] for f in cell["findings"] if f["code"] == "dead"}
    assert dead == {name: {"failed_ns": 33_000_000.0} for name in ("a", "b")}
