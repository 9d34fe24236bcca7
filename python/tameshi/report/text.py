"""Every string the report can print, in English and Japanese, and the formatting of values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

LANGUAGES = ("en", "ja")

TEXT: dict[str, tuple[str, str]] = {
    # page
    "page.skip": ("Skip to the results", "結果へ移動"),
    "page.to_dark": ("Dark theme", "暗い配色にする"),
    "page.to_light": ("Light theme", "明るい配色にする"),
    "page.no_script": (
        "The plots need JavaScript. Every figure they show is also in the tables below.",
        "グラフの表示にはJavaScriptが必要です。同じ数値は下の表にもあります。",
    ),
    "page.made_by": (
        "Made by Tameshi. This file holds everything it shows and asks nothing of the network.",
        "Tameshiが作成しました。このファイルだけで完結し、ネットワークには一切アクセスしません。",
    ),
    # sections
    "section.answer": ("The answer", "答え"),
    "section.plots": ("Plots", "グラフ"),
    "section.numbers": ("All numbers", "全数値"),
    "section.verdicts": ("Is it valid?", "結果は有効か"),
    "section.published": ("Beside published figures", "公表値との比較"),
    "section.environment": ("Environment", "環境"),
    "section.reproduce": ("How to reproduce", "再現手順"),
    "section.caveats": ("Caveats", "注意事項"),
    # answer: what each line is about, then the sentence, then one item of the sentence's list
    "answer.peak": ("Peak rate", "最大IOPS"),
    "answer.floor": ("Latency at {axis} {level}", "{axis} {level}でのレイテンシ"),
    "answer.throughput": ("Throughput", "スループット"),
    "answer.commit": ("Commit", "コミット"),
    "answer.company": ("Beside other work", "他の処理との同居"),
    "answer.tail": ("Tail latency", "裾のレイテンシ"),
    "sentence.peak": ("{items}.", "{items}。"),
    "sentence.peak_same": (
        "{items}, each at {axis} {level}.",
        "{items}（いずれも{axis} {level}）。",
    ),
    "sentence.floor": ("{items}.", "{items}。"),
    "sentence.throughput": ("{items}.", "{items}。"),
    "sentence.commit": ("{items}.", "{items}。"),
    "sentence.company": ("{items}.", "{items}。"),
    "sentence.tail": ("{items}.", "{items}。"),
    # the first item of a list has the verb, the others follow it
    "item.peak_first": ("{name} reaches {value} IOPS{aside}", "IOPSは{name} {value}{aside}"),
    "item.peak": ("{name} {value}{aside}", "{name} {value}{aside}"),
    "item.peak_bandwidth_first": ("{name} reaches {value}{aside}", "{name} {value}{aside}"),
    "item.floor_first": (
        "{name} takes {value}{aside} at the {stat} and {tail} at p99",
        "{name}は{stat}{value}{aside}、p99 {tail}",
    ),
    "item.floor": ("{name} {value}{aside} and {tail}", "{name} {value}{aside}と{tail}"),
    "item.floor_only_first": (
        "{name} takes {value}{aside} at the {stat}",
        "{name}は{stat}{value}{aside}",
    ),
    "item.floor_only": ("{name} {value}{aside}", "{name} {value}{aside}"),
    "item.throughput_first": ("{name} runs at {value}{aside}", "{name} {value}{aside}"),
    "item.throughput": ("{name} at {value}{aside}", "{name} {value}{aside}"),
    "item.tail_first": ("{name} has a p99 of {value}{aside}", "p99は{name} {value}{aside}"),
    "item.tail": ("{name} {value}{aside}", "{name} {value}{aside}"),
    "item.at": (" at {axis} {level}", "（{axis} {level}）"),
    "item.commit": (
        "a commit takes {mean} on average and {tail} at p99, which makes {rate} commits a second",
        "1回のコミットは平均{mean}、p99で{tail}、毎秒{rate}回",
    ),
    "item.commit_rate": ("{rate} commits a second", "コミットは毎秒{rate}回"),
    "item.company": (
        "{name} p99 goes from {before} in “{first}” to {after} in “{second}”, {ratio}",
        "{name}のp99は、「{first}」の{before}から「{second}」の{after}へ、{ratio}",
    ),
    "item.best": ("{best} at the most, {worst} at the least", "最大で{best}、最小で{worst}"),
    "list.separator": ("; ", "、"),
    "list.short": (", ", "、"),
    "answer.none": ("No cell has a result yet.", "まだ結果がありません。"),
    "answer.clause": (" — {world}: {sentence}", " — {world}：{sentence}"),
    "note.one_run": ("one run, no interval", "1回のみ、区間なし"),
    "note.no_interval": ("no interval", "区間なし"),
    "note.all_one_run": ("(one run each, no interval)", "（各1回のみ、区間なし）"),
    "note.all_no_interval": ("(no intervals)", "（区間なし）"),
    # tables
    "table.overview": (
        "Key figures; 95 % intervals in parentheses",
        "主な数値。括弧内は95 %区間",
    ),
    "table.overview_bare": ("Key figures", "主な数値"),
    "table.plain": ("{phase}: every measure", "{phase}：全指標"),
    "table.matrix": ("{phase}: {measure}", "{phase}：{measure}"),
    "table.verdicts": (
        "Cells by verdict, the worst first",
        "判定別のセル。悪いものから順",
    ),
    "table.published": ("Published figures and ours", "公表値と今回の値"),
    "table.environment": ("Environment: {world}", "環境：{world}"),
    "column.phase": ("Phase", "フェーズ"),
    "column.quantity": ("Quantity", "項目"),
    "column.ratio": ("{top} ÷ {bottom}", "{top} ÷ {bottom}"),
    "column.world": ("World", "世界"),
    "column.cells": ("Cells", "セル"),
    "column.levels": ("Levels", "水準"),
    "column.runs": ("Runs: complete / partial / failed", "実行：完了 / 一部 / 失敗"),
    "column.verdict": ("Verdict", "判定"),
    "column.reasons": ("Reasons", "理由"),
    "column.id": ("Id", "ID"),
    "column.cell": ("Cell", "セル"),
    "column.metric": ("Metric", "指標"),
    "column.published": ("Published", "公表値"),
    "column.ours": ("Ours", "今回の値"),
    "column.ours_to_published": ("Ours ÷ published", "今回 ÷ 公表"),
    "column.key": ("Key", "項目"),
    "column.value": ("Value", "値"),
    "cell.at": ("at {axis} {level}", "{axis} {level}"),
    "cell.none": ("–", "–"),
    "cell.unknown": ("not known", "不明"),
    "cell.all": ("all {count}", "全{count}件"),
    "cell.some": ("{count} of {total}", "{total}件中{count}件"),
    "row.peak": ("{name}: peak {measure}", "{name}：最大{measure}"),
    "row.plain": ("{name}: {measure}", "{name}：{measure}"),
    "row.floor": ("{name}: {measure} at {axis} {level}", "{name}：{measure}（{axis} {level}）"),
    "row.company": (
        "{name}: p99, {second} ÷ {first}",
        "{name}：p99、{second} ÷ {first}",
    ),
    # plots
    "figure.rate": ("{phase}: operations a second", "{phase}：毎秒の操作数"),
    "figure.latency": ("{phase}: latency", "{phase}：レイテンシ"),
    "figure.percentiles": ("{phase}: distribution of latency", "{phase}：レイテンシの分布"),
    "figure.percentiles_plain": (
        "Distribution of latency in the other phases",
        "その他のフェーズのレイテンシの分布",
    ),
    "figure.series": ("Over time: {name}", "時間変化：{name}"),
    "figure.bars_rate": ("Operations a second", "毎秒の操作数"),
    "figure.bars_bandwidth": ("Bandwidth", "帯域"),
    "figure.bars_p99": ("Latency p99", "レイテンシp99"),
    "figure.bars_mean": ("Mean latency", "平均レイテンシ"),
    "hint.sweep": (
        "Both axes are logarithmic. Whiskers: 95 % intervals.",
        "両軸とも対数。ひげは95 %区間。",
    ),
    "hint.sweep_linear": ("Whiskers: 95 % intervals.", "ひげは95 %区間。"),
    "hint.latency": (
        "p50 solid, p99 dotted; both axes are logarithmic. Whiskers: 95 % intervals.",
        "実線はp50、点線はp99。両軸とも対数。ひげは95 %区間。",
    ),
    "hint.percentiles": (
        "Further right is rarer: each step is one more nine. Both axes are logarithmic.",
        "右へ行くほどまれな遅れ。1目盛りごとに9が1つ増える。両軸とも対数。",
    ),
    "hint.series": ("One run, interval by interval.", "1回の実行を区間ごとに表示。"),
    "hint.bars": ("Whiskers: 95 % intervals.", "ひげは95 %区間。"),
    "hint.dots": (
        "Logarithmic axis, so points and not bars. Whiskers: 95 % intervals.",
        "対数軸のため、棒ではなく点で表示。ひげは95 %区間。",
    ),
    "axis.none": ("", ""),
    "axis.name": ("{name}", "{name}"),
    "axis.rate": ("operations / s", "操作数 / 秒"),
    "axis.bandwidth": ("bandwidth", "帯域"),
    "axis.latency": ("latency", "レイテンシ"),
    "axis.percentile": ("percentile", "パーセンタイル"),
    "axis.time": ("time (s)", "時間（秒）"),
    "axis.number": ("value", "値"),
    # measures
    "measure.iops": ("IOPS", "IOPS"),
    "measure.rate": ("operations / s", "操作数 / 秒"),
    "measure.bandwidth": ("bandwidth", "帯域"),
    "measure.latency.mean": ("mean latency", "平均レイテンシ"),
    "measure.latency.p50": ("latency p50", "レイテンシp50"),
    "measure.latency.p99": ("latency p99", "レイテンシp99"),
    "measure.latency.p999": ("latency p99.9", "レイテンシp99.9"),
    "measure.latency.max": ("longest latency", "最大レイテンシ"),
    "stat.latency.p50": ("median", "中央値"),
    "stat.latency.mean": ("mean", "平均"),
    # worlds, verdicts
    "world.measured": ("Measured", "実測"),
    "world.emulated": ("Emulated", "エミュレーション"),
    "world.simulated": ("Simulated", "シミュレーション"),
    "model.simulated": ("simulated: model of {model}", "シミュレーション：{model}のモデル"),
    "model.emulated": ("emulated: model of {model}", "エミュレーション：{model}のモデル"),
    "model.unnamed": ("a model, not a measurement", "実測ではなくモデルによる値"),
    "verdict.valid": ("Valid", "有効"),
    "verdict.warning": ("Warning", "要注意"),
    "verdict.invalid": ("Invalid", "無効"),
    "verdict.study": ("Verdict of the study: {verdict}", "この試験の判定：{verdict}"),
    # caveats
    "caveat.partial": (
        "Partial: {cell} ({partial} of {runs} runs ended early).",
        "途中終了：{cell}（{runs}回のうち{partial}回）。",
    ),
    "caveat.failed": (
        "Failed: {cell} ({failed} of {runs} runs).",
        "失敗：{cell}（{runs}回のうち{failed}回）。",
    ),
    "caveat.empty": ("No result: {cell}.", "結果なし：{cell}。"),
    "caveat.simulated": (
        "What is simulated ({model}) holds for the modelled drive, not for the disk at hand.",
        "シミュレーションの値（{model}）は対象のドライブのもので、手元のディスクのものではありません。",
    ),
    "caveat.emulated": (
        "What is emulated ({model}) is real software on a modelled disk.",
        "エミュレーションの値（{model}）は、モデルのディスク上で本物のソフトウェアを動かして得たものです。",
    ),
    "caveat.no_interval": (
        "{count} of {total} estimates have no interval: the run gave too little, or was the only"
        " one. Do not read small differences into them.",
        "{total}件中{count}件の推定値には区間がありません（1回のみ、またはデータ不足）。"
        "小さな差を読み取らないでください。",
    ),
    "caveat.method": (
        "Intervals are 95 % intervals ({methods}). Ratios not given by the study take theirs from"
        " the two intervals (MOVER, on logarithms).",
        "区間は95 %区間（{methods}）。"
        "試験結果にない比の区間は、2つの区間から対数上のMOVER法で求めました。",
    ),
    "caveat.latency": (
        "Latency runs from the intended start where arrivals are open-loop, from submission where"
        " the loop is closed.",
        "レイテンシの起点は、開ループでは予定時刻、閉ループでは発行時刻です。",
    ),
    "caveat.scale": (
        "{phase} ran at a reduced scale of {scale}.",
        "「{phase}」は縮小規模{scale}で実行しました。",
    ),
    "caveat.outside": (
        "The model was not validated for {phase} in this range.",
        "この範囲の「{phase}」について、モデルは検証されていません。",
    ),
    # well-known names of axes, levels, phases and streams; others are printed as written
    "name.random_read": ("random read", "ランダム読み出し"),
    "name.random_write": ("random write", "ランダム書き込み"),
    "name.sequential_read": ("sequential read", "シーケンシャル読み出し"),
    "name.sequential_write": ("sequential write", "シーケンシャル書き込み"),
    "name.read": ("read", "読み出し"),
    "name.write": ("write", "書き込み"),
    "name.sync": ("sync", "同期"),
    "name.commit": ("commit", "コミット"),
    "name.pattern": ("pattern", "パターン"),
    "name.depth": ("depth", "深度"),
    "name.direction": ("direction", "方向"),
    "name.sweep": ("sweep", "スイープ"),
    "name.bandwidth": ("bandwidth", "帯域"),
    "name.alone": ("alone", "単独"),
    "name.under_writes": ("under writes", "書き込みと同居"),
    "name.reader": ("reader", "読み手"),
    "name.writer": ("writer", "書き手"),
    "name.measured": ("measured", "実測"),
    "name.emulated": ("emulated", "エミュレーション"),
    "name.simulated": ("simulated", "シミュレーション"),
    "name.p50": ("p50", "p50"),
    "name.p99": ("p99", "p99"),
}

# From which size on, the divisor, and the unit.
_COUNT = ((0, 1, ""), (1e3, 1e3, " k"), (1e6, 1e6, " M"), (1e9, 1e9, " G"))
_SCALES: dict[str, tuple[tuple[float, float, str], ...]] = {
    "rate": _COUNT,
    "number": _COUNT,
    "bandwidth": ((0, 1, " B/s"), (1e3, 1e3, " kB/s"), (1e6, 1e6, " MB/s"), (1e9, 1e9, " GB/s")),
    "latency": ((0, 1, " ns"), (1e3, 1e3, " µs"), (1e6, 1e6, " ms"), (1e9, 1e9, " s")),
    "ratio": ((0, 0.01, " %"), (0.1, 1, " ×")),
}
_DIGITS = 3


@dataclass(frozen=True)
class Phrase:
    """A key of the table with its fields; fields are names of the study, translated when known."""

    key: str
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Shown:
    """A value ready to print: the number with unit, its interval, or why there is none."""

    value: str
    interval: str = ""
    note: str = ""
    at: str = ""

    def __str__(self) -> str:
        aside = self.interval or self.note
        told = f"{self.value} ({aside})" if aside else self.value
        return f"{told} {self.at}" if self.at else told


def _scaled(kind: str, value: float) -> tuple[float, str, int]:
    """Divisor, suffix and decimals that show `value` with three significant digits."""
    rounded = abs(float(f"{value:.{_DIGITS - 1}e}"))
    _, divisor, suffix = next(s for s in reversed(_SCALES[kind]) if rounded >= s[0])
    shown = rounded / divisor
    decimals = _DIGITS - 1 - math.floor(math.log10(shown)) if shown else 0
    return divisor, suffix, min(max(decimals, 0), 6)


def format_value(kind: str, value: float) -> str:
    """A value with its unit and three significant digits: `12.3 k`, `85.1 µs`, `187 MB/s`."""
    divisor, suffix, decimals = _scaled(kind, value)
    return f"{value / divisor:.{decimals}f}{suffix}"


def format_tick(kind: str, value: float) -> str:
    """A round value for an axis, without trailing zeros."""
    divisor, suffix, _ = _scaled(kind, value)
    return f"{value / divisor:.6g}{suffix}"


def format_interval(kind: str, value: float, low: float, high: float) -> str:
    """`11.9–12.8`, in the scale and with the decimals of the value it belongs to."""
    divisor, _, decimals = _scaled(kind, value)
    return f"{low / divisor:.{decimals}f}–{high / divisor:.{decimals}f}"


class Text:
    """The table in one language."""

    def __init__(self, lang: str = "en") -> None:
        if lang not in LANGUAGES:
            raise ValueError(f"language {lang!r}: one of {', '.join(LANGUAGES)}")
        self.lang = lang
        self._column = LANGUAGES.index(lang)

    def __call__(self, key: str, **fields: object) -> str:
        """The string of a key with its fields filled in."""
        return TEXT[key][self._column].format(**fields)

    def phrase(self, phrase: Phrase) -> str:
        """A phrase with its names translated."""
        return self(phrase.key, **{k: self.name(v) for k, v in phrase.fields.items()})

    def name(self, identifier: str) -> str:
        """A study's identifier as prose."""
        key = f"name.{identifier}"
        return TEXT[key][self._column] if key in TEXT else identifier.replace("_", " ")

    def names(self, identifiers: Iterable[str]) -> str:
        """A composed name: `random read · p99`; a number belongs to the word before it."""
        parts: list[str] = []
        for name in dict.fromkeys(self.name(i) for i in identifiers):
            if parts and name.replace(".", "", 1).isdigit():
                parts[-1] += f" {name}"
            else:
                parts.append(name)
        return " · ".join(parts)

    def measure(self, measure: str) -> str:
        """A measure's label; unknown ones are printed as written."""
        key = f"measure.{measure}"
        return TEXT[key][self._column] if key in TEXT else measure

    def world(self, world: str) -> str:
        """A world's label."""
        key = f"world.{world}"
        return TEXT[key][self._column] if key in TEXT else world

    def verdict(self, level: str) -> str:
        """A verdict as a word."""
        key = f"verdict.{level}"
        return TEXT[key][self._column] if key in TEXT else level

    def shown(
        self, kind: str, value: float, low: float | None, high: float | None, runs: int
    ) -> Shown:
        """A value with its interval, or with the note that there is none."""
        if low is None or high is None:
            note = self("note.one_run" if runs == 1 else "note.no_interval")
            return Shown(format_value(kind, value), note=note)
        return Shown(format_value(kind, value), interval=format_interval(kind, value, low, high))
