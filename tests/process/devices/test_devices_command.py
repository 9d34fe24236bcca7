"""`tameshi devices`: every profile, every value with its source, and an ageing drive."""

import json
import re
import subprocess
import tomllib

import pytest
from command import tameshi
from sourced import sourced

from tameshi.core import data

PROFILES = data.PROFILES / "devices"
SMALL = """
description = "A small drive"
[device.xpoint]
capacity = { value = "32 GB", source = "chosen" }
access_unit = { value = "4 KiB", source = "chosen" }
channels = { value = 4, source = "chosen" }
read_time = { value = "5 us", source = "chosen" }
write_time = { value = "5 us", source = "chosen" }
read_overhead = { value = "5 us", source = "chosen" }
write_overhead = { value = "5 us", source = "chosen" }
command_rate = { value = "50000 /s", source = "chosen", fitted_on = "S0-0005" }
queue_depth = { value = 64, source = "chosen" }
[device.xpoint.link]
read_rate = { value = "1000000000 /s", source = "chosen" }
write_rate = { value = "1000000000 /s", source = "chosen" }
half_duplex = { value = false, source = "chosen" }
"""


def devices(*words: str) -> subprocess.CompletedProcess[str]:
    return tameshi("devices", *words)


def test_every_profile_is_listed_by_its_whole_name():
    done = devices()
    assert done.returncode == 0, done.stderr
    assert all(f" {path.stem} " in done.stdout for path in PROFILES.glob("*.toml"))


@pytest.mark.parametrize("kind", ["host", "link"])
def test_hosts_and_links_are_shown_with_sources(kind):
    listed = devices().stdout
    for path in (PROFILES.parent / f"{kind}s").glob("*.toml"):
        assert f" {path.stem} " in listed
        done = devices("show", path.stem, "--format", "json")
        assert done.returncode == 0, done.stderr
        shown, profile = json.loads(done.stdout), tomllib.loads(path.read_text())
        assert (shown["kind"], shown["description"]) == (kind, profile["description"])
        sources = [value["source"] for value in sourced(profile)]
        assert sources
        assert sorted(value["source"] for value in shown["values"]) == sorted(sources)
    output = devices("show", path.stem, "--lang", "ja").stdout
    assert "値とその出典" in output
    assert devices("show", path.stem, "--format", "html").returncode != 0


@pytest.mark.slow("a drive becomes steady")
def test_flash_drive_is_shown_from_fresh_to_steady():
    done = devices("show", "nytro-blp4-400g", "--format", "json")
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    profile = tomllib.loads((PROFILES / "nytro-blp4-400g.toml").read_text())
    sources = [value["source"] for value in sourced(profile)]
    assert sorted(value["source"] for value in shown["values"]) == sorted(sources)
    assert all(value["value"] for value in shown["values"])
    points = shown["behaviour"]["points"]
    assert len(points) > 30
    assert 2.9 < points[-1]["written"] < 3.1
    fresh, steady = points[2]["iops"], points[-1]["iops"]
    assert fresh > 2 * steady
    found = {each["name"]: each for each in shown["behaviour"]["steady"]}
    assert abs(found["random_write_4k"]["iops"] / steady - 1) < 0.1
    assert found["random_read_4k"]["iops"] > 2 * steady
    assert found["one_read_4k"]["latency_ns"] > found["one_write_4k"]["latency_ns"]


@pytest.mark.slow("a drive is simulated for its page")
def test_drive_without_ageing_is_constant_and_shows_limits(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    shown = json.loads(devices("show", str(path), "--format", "json").stdout)
    rates = [point["iops"] for point in shown["behaviour"]["points"]]
    assert max(rates) / min(rates) < 1.05
    assert all(abs(rate - 50_000) < 1_000 for rate in rates)
    page = devices("show", str(path), "--format", "html").stdout
    assert page.startswith("<!doctype html>")
    assert page.count("<polyline") == 2
    assert "S0-0005" in page
    assert not re.search(r"""(src|href)=["']?http""", page)
    output = devices("show", str(path))
    assert "command_rate" in output.stdout
    assert "fitted on S0-0005" in " ".join(output.stdout.replace("│", " ").split())
    assert "█" in output.stdout
    japanese = devices("show", str(path), "--lang", "ja").stdout
    assert "新品から定常状態まで" in japanese


def test_new_profile_needs_one_file(tmp_path):
    place = tmp_path / "profiles" / "devices"
    place.mkdir(parents=True)
    (place / "mine.toml").write_text(SMALL)
    study = tmp_path / "study.toml"
    study.write_text(
        'title = "Mine"\nquestion = "What does it do?"\n[storage.disk]\ndevice = "mine"\n'
        "[workload.stream.reads]\nqueue_depth = 64\n[phase.reads]\n"
        'workload = ["stream.reads"]\nuntil = { time = "200 ms" }\n'
    )
    done = tameshi("run", study, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    cell = next(cell for cell in results["cells"] if cell["phase"] == "reads")
    rate = next(each for each in cell["estimates"] if each["metric"] == "read.iops")
    assert abs(rate["value"] / 50_000 - 1) < 0.02


def test_arrays_are_shown_by_depth_with_sources():
    listed = devices().stdout
    assert all(f" {path.stem} " in listed for path in (PROFILES.parent / "arrays").glob("*.toml"))
    done = devices("show", "sas-6x146gb-raid10", "--format", "json")
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    profile = tomllib.loads((PROFILES.parent / "arrays" / "sas-6x146gb-raid10.toml").read_text())
    result = {value["key"]: value["source"] for value in shown["values"]}
    assert result == {
        f"raid10.{key}": each["source"] for key, each in profile["array"]["raid10"].items()
    }
    assert (shown["made_of"], shown["drives"]) == ("raid10 of 6 sas-15k-146gb", 6)
    reads, writes = shown["behaviour"]["reads"], shown["behaviour"]["writes"]
    assert [int(each["name"]) for each in reads] == [2**n for n in range(9)]
    # One read keeps one disk busy, many keep all six, and a write keeps two busy.
    assert abs(reads[0]["iops"] / 181 - 1) < 0.05
    assert reads[-1]["iops"] > 6 * reads[0]["iops"]
    assert 1.5 < reads[-1]["iops"] / writes[-1]["iops"] < 2.5


@pytest.mark.slow("two large drives become steady")
def test_shallow_flash_writes_are_shown_at_sustained_rate():
    shown = json.loads(devices("show", "pcie-ssd-2x3.2tb-mirror", "--format", "json").stdout)
    writes = [each["iops"] for each in shown["behaviour"]["writes"]]
    assert max(writes) < 1.05 * writes[-1], writes


def test_own_array_file_serves_show_and_study(tmp_path):
    for kind in ("devices", "arrays"):
        (tmp_path / "profiles" / kind).mkdir(parents=True)
    (tmp_path / "profiles" / "devices" / "mine.toml").write_text(SMALL)
    path = tmp_path / "profiles" / "arrays" / "four.toml"
    path.write_text(
        'description = "Four of mine"\n[array.cache]\n'
        'memory = { value = "1 MiB", source = "chosen" }\n'
        'kind = { value = "volatile", source = "chosen" }\n'
        'latency = { value = "5 us", source = "chosen", fitted_on = "S0-0005" }\n'
        '[array.cache.of.raid0]\nmembers = { value = 4, source = "chosen" }\n'
        'device = { value = "mine", source = "chosen" }\n'
    )
    page = devices("show", str(path), "--format", "html").stdout
    assert page.startswith("<!doctype html>")
    assert page.count("<polyline") == 2 and "cache of raid0 of 4 mine" in page
    assert not re.search(r"""(src|href)=["']?http""", page)
    output = devices("show", str(path), "--lang", "ja").stdout
    assert "同時要求数" in output and "█" in output
    study = tmp_path / "study.toml"
    study.write_text(
        'title = "Mine"\nquestion = "What does it do?"\n'
        '[storage.four]\narray = "four"\ncache.of.raid0.members = 2\n'
        "[workload.stream.reads]\nqueue_depth = 64\n[phase.reads]\n"
        'workload = ["stream.reads"]\nuntil = { time = "200 ms" }\n'
    )
    done = tameshi("run", study, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    cell = next(cell for cell in results["cells"] if cell["phase"] == "reads")
    rate = next(each for each in cell["estimates"] if each["metric"] == "read.iops")
    assert abs(rate["value"] / 100_000 - 1) < 0.02
    path.write_text(path.read_text().replace('"mine"', '"min"'))
    done = devices("show", str(path))
    assert done.returncode != 0 and "did you mean `mine`?" in done.stderr


def test_list_equals_command_without_subcommand():
    assert devices("list").stdout == devices().stdout
    assert "ホスト" in devices("list", "--lang", "ja").stdout


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        ("host", "cores_per_socket = { value = 1,", "cores_per_socket = { value = 0,"),
        ("link", 'round_trip = { value = "100 us"', 'round_trip = { value = "100 s"'),
    ],
)
def test_own_host_or_link_is_shown_and_checked(tmp_path, kind, right, wrong):
    shipped = {"host": "free", "link": "tcp-10gbe"}[kind]
    text = re.sub(" +=", " =", (PROFILES.parent / f"{kind}s" / f"{shipped}.toml").read_text())
    path = tmp_path / "my own.toml"
    path.write_text(text)
    done = devices("show", str(path), "--format", "json")
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    known = json.loads(devices("show", shipped, "--format", "json").stdout)
    assert shown == {**known, "name": "my own"}
    assert right in text
    path.write_text(text.replace(right, wrong))
    done = devices("show", str(path))
    assert done.returncode == 2
    assert "my own.toml:" in done.stderr and right.split()[0] in done.stderr


def test_file_needs_no_suffix_and_name_precedes_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small").write_text(SMALL)
    (tmp_path / "null").write_text(SMALL)
    shown = json.loads(devices("show", "small", "--format", "json").stdout)
    assert (shown["name"], shown["model"]) == ("small", "xpoint")
    assert json.loads(devices("show", "null", "--format", "json").stdout)["model"] == "null"


def test_unknown_name_is_refused_with_names_of_every_kind():
    done = devices("show", "qq")
    assert done.returncode == 2
    for name in ("optane-p4800x-375g", "fc-24x15k", "guest-sr-iov", "tcp-25gbe"):
        assert name in done.stderr


def test_unknown_drive_and_invalid_profile_are_refused(tmp_path):
    done = devices("show", "es3000-1200")
    assert done.returncode != 0
    assert "es3000-1.2t" in done.stderr
    path = tmp_path / "wrong.toml"
    path.write_text(SMALL.replace('read_time = { value = "5 us"', 'read_time = { value = "5 ms"'))
    done = devices("show", str(path))
    assert done.returncode != 0
    assert "read_time" in done.stderr
    assert devices("show", str(path), "--format", "pdf").returncode != 0
