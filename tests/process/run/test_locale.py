"""Locales with other encodings than UTF-8: files are UTF-8, and nothing fails."""

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest
from command import SMALL, arguments, tameshi_process

TITLE = "ディスクの比較 × µs"
STUDY = SMALL.replace('title = "Small"', f'title = "{TITLE}"').replace(
    'levels = ["0 %", "100 %"]', 'levels = ["0 %"]'
)
LOCALES = {"ja_JP.eucJP": ("ja_JP", "EUC-JP"), "en_US.ISO-8859-1": ("en_US", "ISO-8859-1")}


@pytest.fixture(scope="module")
def compiled_locales(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile old Japanese and Western locales, in a folder for LOCPATH."""
    folder = tmp_path_factory.mktemp("locales")
    for name, (source, charmap) in LOCALES.items():
        command = ["localedef", "-i", source, "-f", charmap, folder / name]
        subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.mark.slow("Tameshi in processes of its own")
@pytest.mark.parametrize("locale", LOCALES)
def test_study_in_legacy_locale_writes_utf8(
    tmp_path: Path, compiled_locales: Path, locale: str
) -> None:
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    disk = tmp_path / "データ"
    disk.mkdir()
    env = {"LOCPATH": str(compiled_locales), "LC_ALL": locale, "PYTHONUTF8": "0"}
    out = tmp_path / "結果"
    worlds = ("--world", "measured", "--world", "simulated", "--on", f"disk={disk}")
    command = ("run", tmp_path / "study.toml", *worlds, "--out", out, "--lang", "ja")
    done = tameshi_process(*command, env=env)
    assert done.returncode == 0, done.stderr
    assert TITLE in (out / "report.ja.html").read_text(encoding="utf-8")
    assert json.loads((out / "results.json").read_bytes())["study"]["title"] == TITLE
    for path in out.glob("runs/*/environment.json"):
        json.loads(path.read_bytes())
    shown = tameshi_process("report", out, "--format", "md", "--lang", "ja", env=env)
    assert shown.returncode == 0 and TITLE in shown.stdout
    again = tameshi_process(*command, env=env)
    assert again.returncode == 0 and "finished before" in again.stderr


def test_terminal_without_a_sign_gets_another(tmp_path: Path, compiled_locales: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    env = {**os.environ, "LOCPATH": str(compiled_locales), "LC_ALL": "en_US.ISO-8859-1"}
    main, side = pty.openpty()
    words = arguments("plan", tmp_path / "study.toml")
    process = subprocess.Popen(words, stdout=side, stderr=side, env=env | {"PYTHONUTF8": "0"})
    os.close(side)
    said = bytearray()
    while True:
        try:
            said += os.read(main, 4096)
        except OSError:  # The terminal's other end is closed.
            break
    os.close(main)
    assert process.wait() == 0
    assert "??????? × µs".encode("latin-1") in said


def test_encoding_that_user_set_is_kept() -> None:
    done = subprocess.run(
        arguments("devices", "show", "sata-ssd-480gb"),
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 0 and done.stdout.isascii() and b"Traceback" not in done.stderr
