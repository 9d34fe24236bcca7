"""Simulated host between jobs and drives, from the study to the report."""

from __future__ import annotations

from command import results, tameshi

STUDY = """
title = "Hosts"
question = "What does the machine allow?"
[storage.card]
device = "null"
size = "1 GiB"
[axis.machine]
guest = { host.profile = "guest-paravirtual" }
fast = { host.profile = "1x-64-core-io-uring" }
[workload.stream.s]
jobs = 8
queue_depth = 32
[phase.p]
workload = ["stream.s"]
until = { time = "20 ms" }
[run]
interval = "5 ms"
"""


def test_host_limit_on_drive_is_reported(tmp_path):
    path, out = tmp_path / "hosts.toml", tmp_path / "out"
    path.write_text(STUDY)
    done = tameshi("run", path, "--out", out)
    assert done.returncode == 0, done.stderr
    guest, fast = results(out)["cells"]
    rate = next(e["value"] for e in guest["estimates"] if e["metric"] == "read.iops")
    assert abs(rate / 128_712 - 1) < 0.02
    assert guest["bottleneck"]["kind"] == "saturated"
    assert (guest["bottleneck"]["subject"], guest["bottleneck"]["resource"]) == (
        "host",
        "hypervisor",
    )
    assert fast["estimates"][0]["value"] > 5 * rate
    shown = tameshi("report", out, "--format", "md").stdout
    assert "hypervisor of the host, 100 % busy" in shown


def test_unknown_host_is_refused_before_any_run(tmp_path):
    path, out = tmp_path / "hosts.toml", tmp_path / "out"
    path.write_text(STUDY.replace("guest-paravirtual", "guest-paravirtuel"))
    done = tameshi("run", path, "--out", out)
    assert done.returncode != 0
    assert "did you mean `guest-paravirtual`" in done.stderr
    assert not out.exists()
