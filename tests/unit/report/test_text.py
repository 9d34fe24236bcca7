"""Texts in both languages, and formatted values."""

from __future__ import annotations

import re
import string
from importlib import resources
from pathlib import Path

import pytest

from tameshi.analysis.stats import validity
from tameshi.analysis.stats.intervals import OVER_RUNS, OVER_RUNS_PLAIN, WITHIN, WITHIN_QUANTILE
from tameshi.analysis.stats.ratios import MOVER, PAIRED, WELCH
from tameshi.core.reasons import Reason, completed, quoted, reason
from tameshi.core.units import format_interval, format_value
from tameshi.report.words.reason_words import METHODS, REASONS
from tameshi.report.words.text import LANGUAGES, TEXT, Phrase, Text

ROOT = Path(__file__).resolve().parents[3]

VALUES = [
    ("rate", 12_345.0, "12.3 k"),
    ("rate", 0.1234, "0.123"),
    ("rate", 421.3, "421"),
    ("rate", 999.6, "1.00 k"),
    ("rate", 1_234_567.0, "1.23 M"),
    ("rate", 0.0, "0"),
    ("latency", 850.0, "850 ns"),
    ("latency", 85_100.0, "85.1 µs"),
    ("latency", 3_200_000.0, "3.20 ms"),
    ("latency", 999_700.0, "1.00 ms"),
    ("latency", 2.5e9, "2.50 s"),
    ("latency", 7.2e10, "72.0 s"),
    ("bandwidth", 187e6, "187 MB/s"),
    ("bandwidth", 3.12e9, "3.12 GB/s"),
    ("bandwidth", 512.0, "512 B/s"),
    ("bytes", 512, "512 B"),
    ("bytes", 25_276_510_208, "23.5 GiB"),
    ("bytes", 2**30, "1.00 GiB"),
    ("bytes", 1023.7 * 2**20, "1.00 GiB"),
    ("bytes", 1023 * 2**20, "1023 MiB"),
    ("ratio", 10.34, "10.3 ×"),
    ("ratio", 0.145, "0.145 ×"),
    ("ratio", 0.0011, "0.00110 ×"),
]


@pytest.mark.parametrize(("kind", "value", "expected"), VALUES)
def test_values(kind: str, value: float, expected: str) -> None:
    assert format_value(kind, value) == expected


def test_interval_shares_scale_and_decimals_with_its_value() -> None:
    assert format_interval("rate", 12_300, 11_900, 12_800) == "11.9–12.8"
    assert format_interval("latency", 1.02e6, 0.98e6, 1.07e6) == "0.98–1.07"
    assert str(Text().shown("rate", 12_300, 11_900, 12_800, 3)) == "12.3 k (11.9–12.8)"


def test_value_without_interval_says_so() -> None:
    assert str(Text().shown("latency", 85_100, None, None, 1)) == "85.1 µs (one run, no interval)"
    assert str(Text("ja").shown("latency", 85_100, None, None, 4)) == "85.1 µs (区間なし)"


def placeholders(template: str) -> set[str | None]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


@pytest.mark.parametrize("key", TEXT)
def test_every_key_has_every_language(key: str) -> None:
    strings = TEXT[key]
    assert len(strings) == len(LANGUAGES)
    assert all(strings) or key == "axis.none"
    assert placeholders(strings[0]) == placeholders(strings[1])


def test_every_key_is_used() -> None:
    sources = "".join(
        file.read_text(encoding="utf-8")
        for file in sorted(Path(str(resources.files("tameshi.report"))).rglob("*"))
        if file.suffix in {".py", ".html"}
    )
    table = sources.index("TEXT: dict")
    sources = sources[:table] + sources[sources.index("\n}\n", table) :]
    # Keys composed from names of the data: `measure.` + measure, in Python or in the template.
    composed = re.findall(r"""f["']([a-z_]+\.(?:[a-z]+_)?)\{|"([a-z]+\.)" ~""", sources)
    prefixes = tuple({prefix for pair in composed for prefix in pair if prefix})
    unused = [k for k in TEXT if f'"{k}"' not in sources and f"'{k}'" not in sources]
    assert [key for key in unused if not key.startswith(prefixes)] == []


def test_unknown_names_are_prose_and_known_ones_are_translated() -> None:
    text = Text("ja")
    assert text.name("random_read") == "ランダム読み出し"
    assert text.name("some_pool") == "some pool"
    assert text.names(("depth", "64")) == "深度 64"
    assert text.names(("commit", "commit")) == "コミット"
    assert text.phrase(Phrase("axis.name", {"name": "depth"})) == "深度"
    with pytest.raises(ValueError, match="language 'fr'"):
        Text("fr")


def test_reasons_have_words_in_each_language() -> None:
    text = Text("ja")
    drift = reason("drift_within", "small", operation="read")
    assert text.reason(drift) == "実行内でドリフト：small 読み出し"
    disk = reason("shared_disk", names=["hdd", "ssd"], disk="sda")
    assert text.reason(disk) == "ストレージhdd、ssdは同じ物理ディスク（sda）"
    assert text.reason(quoted("an unforeseen message")) == "an unforeseen message"
    assert text.reason(completed("a sentence of version 1")) == "a sentence of version 1"
    assert Text().reason(reason("stopped")) == "stopped before its end"
    cold = reason("pool_not_cold", found_bytes=11 << 20, bound_bytes=10 << 20)
    assert "held 11.0 MiB at t0, more than 10.0 MiB" in Text().reason(cold)
    failing = reason("failing", "oltp", share=0.25)
    assert Text().reason(failing).startswith("25% of the transactions failed")


def test_reason_of_several_subjects_appears_once() -> None:
    result = [
        reason("memory", "a"),
        reason("stopped"),
        reason("memory", "b"),
        reason("memory", "a"),
    ]
    words = Text().reasons(result)
    assert words == [f"{Text().reason(reason('memory', ''))}a, b", "stopped before its end"]


def test_every_code_in_the_sources_has_words() -> None:
    sources = [
        *(ROOT / "python").rglob("*.py"),
        *(ROOT / "crates" / "sim" / "src").rglob("*.rs"),
    ]
    made = re.compile(r'(?:\breason|\bFinding|\bFlag|Reason::new)\(\s*"(\w+)"')
    used = {code for path in sources for code in made.findall(path.read_text("utf-8"))}
    used |= set(validity.INVALID) | set(validity.WITH_SHARE)
    assert len(used) > 50 and used - set(REASONS) == set()
    methods = {OVER_RUNS, OVER_RUNS_PLAIN, WITHIN, WITHIN_QUANTILE, PAIRED, WELCH, MOVER}
    assert set(METHODS) == methods


def test_words_of_a_reason_have_the_same_fields_in_each_language() -> None:
    for code, (english, japanese) in REASONS.items():
        assert placeholders(english) == placeholders(japanese), code


def test_no_source_compares_or_splits_sentences_of_reasons() -> None:
    """Findings travel as codes: no other source contains a text of the table."""
    phrases = [max(re.split(r"\{\w+\}", english), key=len) for english, _ in REASONS.values()]
    telling = [phrase.strip(" :;") for phrase in phrases if len(phrase.split()) > 3]
    assert len(telling) > 40
    words = ("reason_words.py", "strings.py")
    sources = [path for path in (ROOT / "python").rglob("*.py") if path.name not in words]
    texts = {path: path.read_text("utf-8") for path in sources}
    result = [
        (path.name, phrase) for path, text in texts.items() for phrase in telling if phrase in text
    ]
    assert result == []


def test_facts_of_an_environment_are_readable() -> None:
    text = Text()
    assert text.fact("device.scheduler", "disk") == "I/O scheduler: disk"
    assert text.fact("machine.new_fact") == "machine.new_fact"
    values = {
        "memory_bytes": (2**34, "16.0 GiB"),
        "device.rotational": (1, "yes"),
        "device.members": ([], ""),
        "mount_options": (["rw", "noatime"], "rw, noatime"),
        "core": ("f" * 64, "f" * 12),
        "kernel": (None, ""),
    }
    for key, (value, shown) in values.items():
        assert text.fact_value(key, value) == shown


def test_findings_of_several_operations_stay_apart() -> None:
    def drift(subject: str, operation: str) -> Reason:
        return reason("drift_within", subject, operation=operation)

    result = [drift("rows", "read"), drift("index", "read"), drift("journal", "sync")]
    words = Text().reasons(result)
    assert words == ["drift within a run: rows, index read", "drift within a run: journal sync"]
    assert Text("ja").reasons(result)[0] == "実行内でドリフト：rows、index 読み出し"


@pytest.mark.parametrize("lang", ["en", "ja"])
@pytest.mark.parametrize(
    "words",
    [
        "storage.d.size: log and data set grow from 38 MiB to 69 MiB, and the storage has 64 MiB: "
        "a real server would find no room",
        "`fsync`, goes through the page cache, and how much memory the host has is not known",
    ],
)
def test_words_of_another_program_stay_unchanged(words: str, lang: str) -> None:
    assert Text(lang).reasons([quoted(words), quoted(words)]) == [words]


def test_number_in_a_name_belongs_to_the_word_before_it() -> None:
    assert Text("en").names(("drives", "4", "jobs", "4")) == "drives 4 · jobs 4"
