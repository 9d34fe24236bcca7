"""tidy: table. Words of `tameshi devices` in both languages, apart from those of profiles."""

from __future__ import annotations

LANGUAGES = ("en", "ja")

TEXT: dict[str, tuple[str, str]] = {
    "profile": ("profile", "プロファイル"),
    "arrays": ("Arrays", "アレイ"),
    "made_of": ("made of", "構成"),
    "hosts": ("Hosts", "ホスト"),
    "links": ("Links", "リンク"),
    "model": ("model", "モデル"),
    "capacity": ("capacity", "容量"),
    "description": ("description", "説明"),
    "parameter": ("parameter", "パラメータ"),
    "value": ("value", "値"),
    "source": ("source", "出典"),
    "fitted_on": ("fitted on {ids}", "{ids}に合わせて設定"),
    "values": ("Values and where they come from", "値とその出典"),
    "behaviour": ("From fresh to steady", "新品から定常状態まで"),
    "explained": (
        "Simulated at {scale}: random writes of 4 KiB, 256 outstanding, "
        "by how often the capacity was written.",
        "シミュレーション({scale})：4 KiBランダム書き込み、同時256件。"
        "横軸は容量に対する書き込み量。",
    ),
    "explained_by_time": (
        "Simulated: random writes of 4 KiB, 256 outstanding, over time.",
        "シミュレーション：4 KiBランダム書き込み、同時256件。横軸は時間。",
    ),
    "scaled": ("one {n}th of its capacity", "容量の{n}分の1"),
    "unproven": (
        " Results agree with a whole drive's up to a scale of {most}; this scale is not validated.",
        "縮小率{most}までは全容量の結果と照合済み。それを超えるこの結果は未検証。",
    ),
    "preparing": ("writing flash to its steady state", "フラッシュを定常状態まで書き込み中"),
    "simulating": ("simulating", "シミュレーション中"),
    "whole": ("its full capacity", "全容量"),
    "iops": ("writes per second", "毎秒の書き込み数"),
    "latency": ("mean latency", "平均遅延"),
    "steady": ("In the state that the writes left", "書き込み後の状態で"),
    "by_depth": ("By how many requests are outstanding", "同時要求数ごとの性能"),
    "explained_by_depth": (
        "Simulated at {scale}: random reads of 4 KiB, then random writes, the most at a time "
        "first, with caches full and flash in its steady state.",
        "シミュレーション({scale})：4 KiBランダム読み取り、続いてランダム書き込み(深い順)。"
        "キャッシュは一杯、フラッシュは定常状態。",
    ),
    "outstanding": ("outstanding", "同時要求数"),
    "reads": ("reads per second", "毎秒の読み取り数"),
    "writes": ("writes per second", "毎秒の書き込み数"),
    "read_latency": ("mean latency of reads", "読み取りの平均遅延"),
    "write_latency": ("mean latency of writes", "書き込みの平均遅延"),
    "work": ("work", "負荷"),
    "rate": ("per second", "毎秒の回数"),
    "bandwidth": ("bandwidth", "帯域"),
    "random_write_4k": (
        "random writes of 4 KiB, 256 outstanding",
        "4 KiBランダム書き込み、同時256件",
    ),
    "random_read_4k": (
        "random reads of 4 KiB, 256 outstanding",
        "4 KiBランダム読み取り、同時256件",
    ),
    "random_70_30_8k": (
        "8 KiB, 70 % reads, 256 outstanding",
        "8 KiB、読み取り70 %、同時256件",
    ),
    "one_read_4k": ("one random read of 4 KiB at a time", "4 KiBランダム読み取り、1件ずつ"),
    "one_write_4k": ("one random write of 4 KiB at a time", "4 KiBランダム書き込み、1件ずつ"),
    "sequential_read_1m": (
        "sequential reads of 1 MiB, 16 outstanding",
        "1 MiB順次読み取り、同時16件",
    ),
    "sequential_write_1m": (
        "sequential writes of 1 MiB, 16 outstanding",
        "1 MiB順次書き込み、同時16件",
    ),
}


def words(key: str, lang: str, **fields: object) -> str:
    """Return a text of the table with its fields filled in."""
    return TEXT[key][LANGUAGES.index(lang)].format(**fields)
