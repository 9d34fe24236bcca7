"""fio-plot from PyPI draws Tameshi's results and logs unchanged."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fio_runs import OK, tameshi_fio

CHARTS = {
    "depths": ("-l", "-n", "1", "--show-cpu"),
    "jobs": ("-N", "-d", "4"),
    "histogram": ("-H", "-d", "4", "-n", "1"),
    "solid": ("-L", "-t", "iops"),
    "logs": ("-g", "-t", "iops", "lat", "bw", "-d", "1", "4", "-n", "1"),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """Write results at two queue depths, in the files that fio-plot reads."""
    folder = tmp_path_factory.mktemp("fio-plot")
    (folder / "data").mkdir()
    for depth in (1, 4):
        prefix = f"data/randread-iodepth-{depth}-numjobs-1"
        done = tameshi_fio(
            folder,
            *("--name=randread", "--rw=randread", "--bs=4k", "--size=2m", "--numjobs=1"),
            *("--ioengine=libaio", f"--iodepth={depth}", "--time_based", "--runtime=1"),
            *(f"--write_{kind}_log={prefix}" for kind in ("bw", "iops", "lat")),
            *("--log_avg_msec=200", "--output-format=json", f"--output={prefix}.json"),
        )
        assert done.returncode in OK, done.stderr
    return folder


@pytest.mark.parametrize("chart", CHARTS)
def test_fio_plot_draws(data, chart):
    command = [Path(sys.executable).parent / "fio-plot", "-i", "data", "-T", "t", "-s", "s"]
    done = subprocess.run(
        [*command, "-r", "randread", *CHARTS[chart], "-o", f"{chart}.png"],
        capture_output=True,
        text=True,
        check=False,
        cwd=data,
        env={**os.environ, "MPLBACKEND": "Agg", "MPLCONFIGDIR": str(data)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    drawn = (data / f"{chart}.png").read_bytes()
    assert drawn.startswith(b"\x89PNG") and len(drawn) > 20_000, done.stdout
