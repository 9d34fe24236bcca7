"""`tameshi run --metrics`: a port in use, a bad address, a missing library, a served run."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from unittest.mock import patch

from command import SMALL, tameshi


def refused(tmp_path: Path, asked: str) -> str:
    (tmp_path / "small.toml").write_text(SMALL)
    done = tameshi("run", tmp_path / "small.toml", "--out", tmp_path / "out", "--metrics", asked)
    assert done.returncode == 2, done.stderr
    assert not (tmp_path / "out").exists() and "Traceback" not in done.stderr
    return " ".join(done.stderr.split())


def test_port_in_use_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        said = refused(tmp_path, port)
    assert "--metrics: metrics can't be served: address already in use" in said
    assert f"Found: {port}." in said and "port 0 takes a free one" in said


def test_bad_address_is_refused(tmp_path: Path) -> None:
    assert "this is no address to serve metrics at" in refused(tmp_path, "somewhere")
    assert "metrics can't be served" in refused(tmp_path, "nowhere.invalid:9400")


def test_missing_library_is_named(tmp_path: Path) -> None:
    with patch.dict(sys.modules, {"prometheus_client": None}):
        assert "pip install 'tameshi[metrics]'" in refused(tmp_path, "0")


def test_served_run_says_where_and_ends(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    done = tameshi("run", tmp_path / "small.toml", "--out", tmp_path / "out", "--metrics", "0")
    assert done.returncode == 0, done.stderr
    assert "Metrics: http://127.0.0.1:" in done.stderr
