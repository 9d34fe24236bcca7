"""Ready studies of databases: each plans unchanged, and its small variant runs on servers."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from command import codes, results, tameshi

from tameshi.core.data import STUDIES

BINDINGS = {
    "key-update": {"disk": 1, "flash": 2},
    "oltp-threads": {"disk": 1},
    "document": {"disk": 1},
    "mysql-disk-or-flash": {"disk_array": 1, "flash": 2},
    "pcie-ssd-mysql": {"sata": 1, "pcie": 2},
}
METRICS = {
    "key-update": ("key_update", "transaction.rate"),
    "oltp-threads": ("oltp", "transaction.latency.p99"),
    "document": ("document.ingest", "transaction.latency.mean"),
    "mysql-disk-or-flash": ("tpcc.new_order", "transaction.tpmc"),
    "pcie-ssd-mysql": ("server", "process.read_bandwidth"),
}

# The loads of disk-or-flash take 45 s; pcie-ssd-mysql runs the same program.
SMALL = [
    *("key-update", "document", "pcie-ssd-mysql"),
    pytest.param("mysql-disk-or-flash", marks=pytest.mark.soak),
]


@pytest.fixture
def places() -> Iterator[list[Path]]:
    """Make two folders that the servers' users may enter."""
    with TemporaryDirectory(prefix="tameshi-test-") as name:
        Path(name).chmod(0o755)
        found = [Path(name, number) for number in ("1", "2")]
        for folder in found:
            folder.mkdir(mode=0o755)
        yield found


def run_small(name: str, places: list[Path], out: Path) -> None:
    on = [f"--on={storage}={places[n - 1]}" for storage, n in BINDINGS[name].items()]
    server = ["--server=mysql=mariadb"] if "mysql" in name else []
    path = STUDIES / f"{name}.toml"
    done = tameshi("run", path, "--quick", "--world", "measured", *on, *server, "--out", out)
    assert done.returncode == 0, done.stderr
    cells = results(out)["cells"]
    assert cells
    for cell in cells:
        assert cell["runs"]["complete"] == 1, cell
        found = set(codes(cell["verdict"]))
        assert not found & {"inconsistent", "pool_not_cold", "page_cache_not_cold", "cold_unknown"}
    found = {(e["subject"], e["metric"]) for cell in cells for e in cell["estimates"]}
    assert METRICS[name] in found
    assert all(list(place.iterdir()) == [] for place in places)


@pytest.mark.parametrize("name", BINDINGS)
def test_database_study_plans_in_full_and_small(name: str) -> None:
    for size in ([], ["--quick"]):
        done = tameshi("plan", STUDIES / f"{name}.toml", "--world", "measured", *size)
        assert done.returncode == 0, done.stderr
        assert "can't be run" not in done.stdout, done.stdout


@pytest.mark.timeout(300)
def test_threads_vary_within_one_run(places: list[Path], tmp_path: Path) -> None:
    run_small("oltp-threads", places, tmp_path / "out")
    cells = results(tmp_path / "out")["cells"]
    assert [cell["levels"]["threads"] for cell in cells] == ["2", "4"]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", SMALL)
def test_the_small_variant_of_a_study_runs(name: str, places: list[Path], tmp_path: Path) -> None:
    run_small(name, places, tmp_path / "out")
