"""tidy: table. Checks of the doctor with all outcomes: state, words and remedy, in two languages.

`docs/doctor-checks.md` shows this table; a test compares them. `judge` fills the fields in
braces. A remedy is an action of the reader; an outcome without a problem has none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LANGUAGES = ("en", "ja")
WORLDS = ("simulated", "emulated", "measured")
State = Literal["ok", "warning", "missing"]
Words = tuple[str, str]
"""Text in the order of `LANGUAGES`."""

NONE: Words = ("", "")


@dataclass(frozen=True)
class Outcome:
    """Possible outcome of a check; `stops` names the worlds that it prevents."""

    state: State
    found: Words
    remedy: Words = NONE
    stops: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """Check: its label, its worlds, and its outcomes."""

    label: Words
    worlds: tuple[str, ...]
    outcomes: dict[str, Outcome]


def _ok(en: str, ja: str) -> Outcome:
    return Outcome("ok", (en, ja))


def _warning(found: Words, remedy: Words) -> Outcome:
    return Outcome("warning", found, remedy)


def _missing(found: Words, remedy: Words, *stops: str) -> Outcome:
    return Outcome("missing", found, remedy, stops)


_REAL = ("emulated", "measured")
_MEASURED = ("measured",)

TEXT: dict[str, Words] = {
    "title": ("What this machine can do", "このマシンでできること"),
    "machine": ("This machine", "マシン全体"),
    "column.state": ("state", "状態"),
    "column.check": ("check", "項目"),
    "column.found": ("found, and what to do", "結果と対処"),
    "column.world": ("world", "世界"),
    "column.verdict": ("here", "可否"),
    "state.ok": ("ok", "良好"),
    "state.warning": ("warning", "注意"),
    "state.missing": ("missing", "不足"),
    "world.simulated": ("simulated", "シミュレーション"),
    "world.emulated": ("emulated", "エミュレーション"),
    "world.measured": ("measured", "実測"),
    "verdict.can": ("ready", "準備完了"),
    "verdict.can_with": ("ready, with warnings: {count}", "準備完了（注意{count}件）"),
    "verdict.cannot": ("not ready: {reasons}", "準備不足：{reasons}"),
}


def _apt(package: str) -> Words:
    return (
        f"For studies with this database: apt-get install {package}",
        f"このデータベースの検証には次を導入：apt-get install {package}",
    )


_BETTER_SCHEDULER: Words = (
    "echo {better} > /sys/block/{node}/queue/scheduler",
    "echo {better} > /sys/block/{node}/queue/scheduler",
)


_BIND_THE_DISK: Words = (
    "Bind a directory on the disk you mean.",
    "対象のディスク上のディレクトリを使う。",
)
_DRIVER_NOT_BUILT: Words = (
    "Part of Tameshi's database driver, which is not built: make setup",
    "Tameshiのデータベースドライバーに含まれるが、未ビルド：make setup",
)
_OTHER_MYSQL: Words = (
    "Debian has no package of it: install it from dev.mysql.com, or use MariaDB instead "
    "(tameshi run --server NAME=mariadb).",
    "Debianにパッケージはない。dev.mysql.comから導入するか、MariaDBで代用する"
    "（tameshi run --server NAME=mariadb）。",
)


def _server(product: str, remedy: Words) -> Entry:
    outcomes = {
        "found": _ok("{versions}", "{versions}"),
        "absent": _missing(("not installed", "未導入"), remedy),
    }
    return Entry((product, product), _REAL, outcomes)


def _tool(name: str, use: Words, worlds: tuple[str, ...] = _MEASURED) -> Entry:
    """Return the check of an optional tool, whose package has the tool's name."""
    remedy = (f"{use[0]}: apt-get install {name}", f"{use[1]}：apt-get install {name}")
    outcomes = {
        "found": _ok("{versions}", "{versions}"),
        "absent": _missing(("not installed (optional)", "未導入（任意）"), remedy),
    }
    return Entry((name, name), worlds, outcomes)


_MACHINE = {
    "machine.system": Entry(
        ("operating system", "OS"),
        WORLDS,
        {
            "linux": _ok("Linux {kernel}", "Linux {kernel}"),
            "other": _missing(
                (
                    "{system}: simulation and reports only",
                    "{system}：シミュレーションとレポートのみ",
                ),
                ("Measure and emulate on Linux.", "実測とエミュレーションはLinuxで行う。"),
                *_REAL,
            ),
        },
    ),
    "machine.cores": Entry(
        ("cores", "コア"),
        WORLDS,
        {
            "enough": _ok("{cpus}", "{cpus}"),
            "one": _warning(
                ("one: load and device share it", "1個のみ：負荷発生とデバイスが取り合う"),
                ("Use a machine with two cores or more.", "2コア以上のマシンを使う。"),
            ),
            "throttled": _warning(
                (
                    "{cpus}, but a control group allows the time of {quota}: pauses will look like "
                    "slow I/O",
                    "{cpus}個あるがcgroupにより{quota}個分に制限：停止がI/Oの遅れに見える",
                ),
                (
                    "Lift the container's CPU quota (cpu.max) and pin it to cores instead.",
                    "コンテナのCPU制限（cpu.max）を外し、代わりにコアを固定する。",
                ),
            ),
        },
    ),
    "machine.kind": Entry(
        ("kind of machine", "マシンの種類"),
        _REAL,
        {
            "physical": _ok("physical, as far as detectable", "物理マシン（判別できる範囲で）"),
            "virtual": _warning(
                (
                    "virtual: the host and other guests affect every measured time",
                    "仮想マシン：測定値には同居者とホストの影響が入る",
                ),
                (
                    "Measure drives on the hardware itself, or take the figures for this virtual "
                    "machine only.",
                    "ドライブの性能は物理マシンで測る。ここでの値はこの仮想マシンのものとして扱う。",
                ),
            ),
        },
    ),
    "machine.load": Entry(
        ("other work", "他の負荷"),
        _REAL,
        {
            "quiet": _ok("load {load} on {cpus} cores", "負荷{load}（{cpus}コア）"),
            "busy": _warning(
                ("load {load} on {cpus} cores", "負荷{load}（{cpus}コア）"),
                ("Stop other programs before you measure.", "測定の前に他の処理を止める。"),
            ),
        },
    ),
    "machine.governor": Entry(
        ("CPU governor", "CPUガバナー"),
        _REAL,
        {
            "performance": _ok("performance", "performance"),
            "hidden": _ok(
                "not visible: firmware or the host decides",
                "見えない：ファームウェアかホストが決める",
            ),
            "saving": _warning(
                (
                    "{governor}: the clock changes with the load",
                    "{governor}：負荷でクロックが変わる",
                ),
                ("cpupower frequency-set -g performance", "cpupower frequency-set -g performance"),
            ),
        },
    ),
    "machine.idle": Entry(
        ("CPU idle states", "CPUのアイドル状態"),
        _REAL,
        {
            "shallow": _ok("wake within {us} µs", "{us} µs以内に復帰"),
            "hidden": _ok(
                "not visible: firmware or the host decides",
                "見えない：ファームウェアかホストが決める",
            ),
            "deep": _warning(
                (
                    "take up to {us} µs to wake: seen at low queue depths",
                    "復帰に最大{us} µs：キュー深度が小さいと現れる",
                ),
                ("cpupower idle-set -D 20", "cpupower idle-set -D 20"),
            ),
        },
    ),
    "machine.clock": Entry(
        ("clock source", "クロックソース"),
        _REAL,
        {
            "fast": _ok("{clock}", "{clock}"),
            "slow": _warning(
                (
                    "{clock}: reading the time costs a microsecond",
                    "{clock}：時刻の読み取りに約1 µsかかる",
                ),
                (
                    "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource "
                    "(if the kernel offers it)",
                    "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource"
                    "（カーネルが提供する場合）",
                ),
            ),
        },
    ),
    "memory.amount": Entry(
        ("memory", "メモリー"),
        WORLDS,
        {
            "enough": _ok("{available} of {total} available", "{total}のうち{available}が利用可能"),
            "little": _warning(
                ("only {available} of {total} available", "{total}のうち利用可能は{available}のみ"),
                ("Free at least {wanted}.", "{wanted}以上を空ける。"),
            ),
            "limited": _warning(
                (
                    "a control group allows {limit} of {total}, page cache included",
                    "cgroupの制限により{total}のうち{limit}（ページキャッシュを含む）",
                ),
                (
                    "Raise the container's memory limit (memory.max) for large buffer pools.",
                    "大きなバッファプールにはコンテナのメモリー制限（memory.max）を上げる。",
                ),
            ),
        },
    ),
    "memory.swap": Entry(
        ("swap", "スワップ"),
        _REAL,
        {
            "none": _ok("none", "なし"),
            "unused": _ok("{total}, unused", "{total}（未使用）"),
            "used": _warning(
                (
                    "{used} of {total} in use: paging disturbs the measured I/O",
                    "{total}のうち{used}を使用中：ページングが測定に混ざる",
                ),
                ("Free memory, then: swapoff -a", "メモリーを空けてから：swapoff -a"),
            ),
        },
    ),
    "memory.huge_pages": Entry(
        ("transparent huge pages", "Transparent Huge Pages"),
        _REAL,
        {
            "asked": _ok("{setting}", "{setting}"),
            "hidden": _ok("not in this kernel", "このカーネルにはない"),
            "always": _warning(
                (
                    "always: databases may stall while the kernel gathers pages",
                    "always：カーネルがページを集める間にデータベースが止まることがある",
                ),
                (
                    "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
                    "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
                ),
            ),
        },
    ),
    "limit.open_files": Entry(
        ("open files", "オープンファイル数"),
        _REAL,
        {
            "enough": _ok("{limit}", "{limit}"),
            "unlimited": _ok("unlimited", "無制限"),
            "few": _warning(
                (
                    "{limit}: too few for a database under many clients",
                    "{limit}：多数のクライアントを持つデータベースには不足",
                ),
                ("ulimit -n {wanted}", "ulimit -n {wanted}"),
            ),
        },
    ),
    "limit.locked_memory": Entry(
        ("locked memory", "ロック可能メモリー"),
        _MEASURED,
        {
            "enough": _ok("{limit}", "{limit}"),
            "unlimited": _ok("unlimited", "無制限"),
            "exempt": _ok("{limit}, not applied to you", "{limit}（現在のユーザーには不適用）"),
            "little": _warning(
                (
                    "{limit}: deep queues go without registered buffers",
                    "{limit}：深いキューでは登録バッファを使えない",
                ),
                (
                    "ulimit -l {wanted} (in KiB), or raise memlock in /etc/security/limits.conf",
                    "ulimit -l {wanted}（KiB単位）、または"
                    "/etc/security/limits.confのmemlockを上げる",
                ),
            ),
        },
    ),
}

_MEANS = {
    "io.uring": Entry(
        ("io_uring", "io_uring"),
        _MEASURED,
        {
            "works": _ok("set up and closed again", "作成と破棄に成功"),
            "disabled": _warning(
                (
                    "switched off (kernel.io_uring_disabled = {setting}): ordinary calls are "
                    "used instead",
                    "無効（kernel.io_uring_disabled = {setting}）：通常のシステムコールで代替",
                ),
                ("sysctl -w kernel.io_uring_disabled=0", "sysctl -w kernel.io_uring_disabled=0"),
            ),
            "forbidden": _warning(
                (
                    "refused ({error}), as by a container's seccomp filter: ordinary calls are "
                    "used instead",
                    "拒否（{error}。コンテナのseccompなど）：通常のシステムコールで代替",
                ),
                (
                    "Run outside the container, or allow io_uring_setup, io_uring_enter and "
                    "io_uring_register (docker run --security-opt seccomp=FILE).",
                    "コンテナの外で実行するか、io_uring_setup・io_uring_enter・io_uring_registerを許可する"
                    "（docker run --security-opt seccomp=FILE）。",
                ),
            ),
            "failed": _warning(
                (
                    "the kernel answers {error}: ordinary calls are used instead",
                    "カーネルの応答は{error}：通常のシステムコールで代替",
                ),
                (
                    "Use a kernel of 5.11 or newer that is built with io_uring; for ENOMEM raise "
                    "ulimit -l.",
                    "io_uringを含む5.11以降のカーネルを使う。ENOMEMならulimit -lを上げる。",
                ),
            ),
            "old": _warning(
                (
                    "lacks {lacking}: ordinary calls are used instead",
                    "{lacking}がない：通常のシステムコールで代替",
                ),
                ("Use a kernel of 5.11 or newer.", "5.11以降のカーネルを使う。"),
            ),
        },
    ),
    "io.fuse": Entry(
        ("FUSE", "FUSE"),
        ("emulated",),
        {
            "works": _ok("/dev/fuse opens", "/dev/fuseは使用可"),
            "absent": _missing(
                ("no /dev/fuse", "/dev/fuseがない"),
                (
                    "modprobe fuse; in a container: --device /dev/fuse",
                    "modprobe fuse（コンテナでは--device /dev/fuse）",
                ),
                "emulated",
            ),
            "forbidden": _missing(
                ("/dev/fuse does not open ({error})", "/dev/fuseを開けない（{error}）"),
                (
                    "chmod 666 /dev/fuse; in a container: --device /dev/fuse",
                    "chmod 666 /dev/fuse（コンテナでは--device /dev/fuse）",
                ),
                "emulated",
            ),
        },
    ),
    "io.fuse_ring": Entry(
        ("FUSE over io_uring", "io_uring経由のFUSE"),
        ("emulated",),
        {
            "on": _ok("on", "有効"),
            "absent": _ok(
                "not in this kernel (Linux 6.14 or newer): plain FUSE is used",
                "このカーネルにはない（Linux 6.14以降）：通常のFUSEを使用",
            ),
            "off": _warning(
                (
                    "off: served drives use plain FUSE, which carries fewer requests per second",
                    "無効：毎秒の要求数が少ない通常のFUSEを使用",
                ),
                (
                    "echo Y > /sys/module/fuse/parameters/enable_uring (a setting of the whole "
                    "machine)",
                    "echo Y > /sys/module/fuse/parameters/enable_uring（マシン全体の設定）",
                ),
            ),
        },
    ),
    "io.tun": Entry(
        ("TUN devices", "TUNデバイス"),
        ("emulated",),
        {
            "works": _ok("/dev/net/tun opens", "/dev/net/tunは使用可"),
            "absent": _missing(
                (
                    "no /dev/net/tun: hosts have no links, and studies on one host work",
                    "/dev/net/tunがない：ホスト間のリンクは不可、1台のホストでの検証は可",
                ),
                (
                    "modprobe tun; in a container: --device /dev/net/tun",
                    "modprobe tun（コンテナでは--device /dev/net/tun）",
                ),
            ),
            "forbidden": _missing(
                (
                    "/dev/net/tun does not open ({error}): hosts have no links, and studies on one "
                    "host work",
                    "/dev/net/tunを開けない（{error}）：ホスト間のリンクは不可、1台のホストでの検証は可",
                ),
                (
                    "Run tameshi hosts as root; in a container: --device /dev/net/tun",
                    "tameshi hostsをrootで実行する（コンテナでは--device /dev/net/tun）",
                ),
            ),
        },
    ),
    "io.serve": Entry(
        ("served drives", "ドライブの提供"),
        ("emulated",),
        {
            "works": _ok(
                "by hand, with tameshi serve; no study runs in this world yet",
                "tameshi serveで手動で提供可（この世界での検証の実行は未対応）",
            ),
            "no_rights": _missing(
                ("you may not mount a drive", "ドライブをマウントする権限がない"),
                (
                    "Run tameshi serve as root; in a container: --cap-add SYS_ADMIN",
                    "tameshi serveをrootで実行する（コンテナでは--cap-add SYS_ADMIN）",
                ),
                "emulated",
            ),
            "no_ring": _missing(
                ("io_uring cannot be used ({error})", "io_uringが使えない（{error}）"),
                ("See io_uring above.", "上のio_uringの項を参照。"),
                "emulated",
            ),
        },
    ),
    "io.loop": Entry(
        ("loop devices", "ループデバイス"),
        _REAL,
        {
            "works": _ok("{free} free", "空き{free}個"),
            "absent": _missing(
                (
                    "no /dev/loop-control: files cannot replace whole disks",
                    "/dev/loop-controlがない：ファイルをディスク代わりにできない",
                ),
                (
                    "modprobe loop; in a container: --device /dev/loop-control",
                    "modprobe loop（コンテナでは--device /dev/loop-control）",
                ),
                "emulated",
            ),
            "forbidden": _missing(
                (
                    "/dev/loop-control does not open ({error})",
                    "/dev/loop-controlを開けない（{error}）",
                ),
                ("Run as root or in the group disk.", "rootまたはdiskグループで実行する。"),
                "emulated",
            ),
        },
    ),
    "server.mariadb": _server("MariaDB", _apt("mariadb-server")),
    "server.mysql": _server("MySQL", _OTHER_MYSQL),
    "server.postgres": _server("PostgreSQL", _apt("postgresql")),
    "server.sqlite": _server("SQLite", _DRIVER_NOT_BUILT),
    "tool.fio": _tool("fio", ("To compare with it", "比較したい場合")),
    "tool.sysbench": _tool("sysbench", ("To compare with it", "比較したい場合")),
    "tool.xfsprogs": _tool(
        "xfsprogs", ("For power cuts under real databases", "実データベースの電源断試験に必要")
    ),
    "tool.libfaketime": _tool(
        "libfaketime",
        ("For slow motion of servers", "サーバーのスローモーションに必要"),
        ("emulated",),
    ),
}

_TARGETS = {
    "target.place": Entry(
        ("place", "場所"),
        _MEASURED,
        {
            "allowed": _ok("a file can be made here", "ファイルを作成できる"),
            "whole_device": _warning(
                (
                    "a whole device: nothing was tried on it",
                    "デバイス全体：書き込みは試していない",
                ),
                (
                    "See docs/guard.md for the conditions of writing here; a directory "
                    "needs nothing.",
                    "書き込みに必要な条件はdocs/guard.mdを参照。ディレクトリなら何も要らない。",
                ),
            ),
            "refused": _missing(
                ("{why}", "{why}"),
                (
                    "Name a directory that you may write to: tameshi doctor PATH",
                    "書き込めるディレクトリを指定する：tameshi doctor PATH",
                ),
                "measured",
            ),
        },
    ),
    "target.direct": Entry(
        ("direct I/O", "ダイレクトI/O"),
        _MEASURED,
        {
            "works": _ok("tested with a file made here", "実ファイルで確認済み"),
            "absent": _warning(
                (
                    "not on {file_system}: runs go through the page cache and say so",
                    "{file_system}では不可：ページキャッシュ経由になり、その旨が記録される",
                ),
                (
                    "Bind a directory on ext4 or XFS to measure the drive itself.",
                    "ドライブ自体を測るにはext4かXFS上のディレクトリを使う。",
                ),
            ),
        },
    ),
    "target.space": Entry(
        ("space", "空き容量"),
        _MEASURED,
        {
            "enough": _ok("{free} free of {total}", "{total}のうち{free}"),
            "little": _warning(
                ("only {free} free of {total}", "{total}のうち{free}のみ"),
                ("Free space, or bind another directory.", "空きを作るか、別の場所を使う。"),
            ),
            "full": _warning(
                (
                    "{percent} % full: file systems and flash drives slow down when full",
                    "使用率{percent} %：満杯に近いファイルシステムやフラッシュは遅くなる",
                ),
                ("Measure on a file system less than 90 % full.", "使用率90 %未満で測る。"),
            ),
        },
    ),
    "target.file_system": Entry(
        ("file system", "ファイルシステム"),
        _MEASURED,
        {
            "plain": _ok("{file_system}", "{file_system}"),
            "unknown": _ok("unknown", "不明"),
            "memory": _warning(
                (
                    "{file_system}: memory, no disk",
                    "{file_system}：メモリー上でありディスクではない",
                ),
                _BIND_THE_DISK,
            ),
            "remote": _warning(
                (
                    "{file_system}: requests go to another machine or a program",
                    "{file_system}：別のマシンかプログラムが応答する",
                ),
                (
                    "Bind a local directory, unless the network is the question.",
                    "ネットワーク自体を調べるのでなければ、ローカルのディレクトリを使う。",
                ),
            ),
            "layered": _warning(
                (
                    "{file_system}: a layer of a container, which copies before it writes",
                    "{file_system}：コンテナの層であり、書き込み前にコピーが入る",
                ),
                (
                    "Bind a volume or a mounted directory of the host.",
                    "ボリュームかホストのディレクトリをマウントして使う。",
                ),
            ),
            "copying": _warning(
                (
                    "{file_system}: never writes in place, so results include its own work",
                    "{file_system}：上書きしないため、その処理も測定値に入る",
                ),
                (
                    "Bind ext4 or XFS to measure the drive; on btrfs chattr +C on the empty "
                    "directory writes in place.",
                    "ドライブを測るにはext4かXFSを使う。"
                    "btrfsなら空のディレクトリにchattr +Cで上書きになる。",
                ),
            ),
        },
    ),
    "target.mount": Entry(
        ("mount options", "マウントオプション"),
        _MEASURED,
        {
            "plain": _ok("no option that affects results", "妨げになるものはない"),
            "no_barrier": _warning(
                (
                    "{option}: DANGER, flushes never reach the drive; commits look fast, and a "
                    "power cut destroys data",
                    "{option}：危険。フラッシュがドライブに届かず、コミットが速く見え、電源断でデータを失う",
                ),
                (
                    "mount -o remount,barrier=1 {mount_point}",
                    "mount -o remount,barrier=1 {mount_point}",
                ),
            ),
            "sync": _warning(
                (
                    "{option}: every write waits for the drive",
                    "{option}：すべての書き込みがドライブを待つ",
                ),
                ("mount -o remount,async {mount_point}", "mount -o remount,async {mount_point}"),
            ),
            "journal": _warning(
                ("{option}: data is written twice", "{option}：データが二度書かれる"),
                (
                    "Mount with data=ordered (a remount cannot change it).",
                    "data=orderedでマウントし直す（remountでは変更不可）。",
                ),
            ),
            "compress": _warning(
                (
                    "{option}: what reaches the drive depends on the data",
                    "{option}：ドライブに届く量がデータ次第で変わる",
                ),
                (
                    "mount -o remount,compress=no {mount_point}",
                    "mount -o remount,compress=no {mount_point}",
                ),
            ),
            "atime": _warning(
                ("{option}: reads cause writes", "{option}：読み込みが書き込みを生む"),
                (
                    "mount -o remount,noatime {mount_point}",
                    "mount -o remount,noatime {mount_point}",
                ),
            ),
            "discard": _warning(
                (
                    "{option}: deletions trim the drive under load",
                    "{option}：削除のたびにTRIMが走り、他の処理に混ざる",
                ),
                (
                    "mount -o remount,nodiscard {mount_point}, and let fstrim.timer trim",
                    "mount -o remount,nodiscard {mount_point}とし、TRIMはfstrim.timerに任せる",
                ),
            ),
        },
    ),
    "disk.kind": Entry(
        ("disk", "ディスク"),
        _MEASURED,
        {
            "rotating": _ok("{name}: {model}, rotating", "{name}：{model}（回転式）"),
            "flash": _ok("{name}: {model}, not rotating", "{name}：{model}（非回転式）"),
            "stacked": _ok(
                "{name} ({kind}), made of {members}; each has settings of its own",
                "{name}（{kind}）。構成は{members}で、設定はそれぞれにある",
            ),
            "virtual": _warning(
                (
                    "{name} is virtual ({kind}): the host's cache, limits and other guests affect "
                    "results",
                    "{name}は仮想（{kind}）：ホストのキャッシュ・制限・同居者が応答する",
                ),
                (
                    "Take the figures for this virtual disk, never for a drive; ask the host for "
                    "cache=none or a passed-through drive.",
                    "値はドライブではなくこの仮想ディスクのもの。ホスト側でcache=noneかパススルーにする。",
                ),
            ),
            "loop": _warning(
                (
                    "{name} is a loop device on {file}: requests go to the file system below",
                    "{name}は{file}上のループデバイス：下のファイルシステムが応答する",
                ),
                (
                    "Good for trying out; bind the disk itself to measure it.",
                    "試用には可。測定にはディスクそのものを使う。",
                ),
            ),
            "memory": _warning(
                ("{name} is memory ({kind})", "{name}はメモリー（{kind}）"),
                _BIND_THE_DISK,
            ),
            "none": _warning(
                (
                    "no block device behind it: no disk statistics in the record",
                    "ブロックデバイスがない：ディスク統計は記録されない",
                ),
                ("Bind a directory on a local disk.", "ローカルディスク上のディレクトリを使う。"),
            ),
        },
    ),
    "disk.shared": Entry(
        ("only this target", "他の対象との共有"),
        _MEASURED,
        {
            "alone": _ok("yes", "なし"),
            "shared": _warning(
                ("{name} also holds {others}", "{name}は{others}とも共有"),
                (
                    "Never bind two storages to one disk: their comparison would be invalid.",
                    "二つのストレージを一つのディスクに割り当てない（比較が無効になる）。",
                ),
            ),
        },
    ),
    "disk.scheduler": Entry(
        ("scheduler", "I/Oスケジューラー"),
        _MEASURED,
        {
            "fits": _ok("{scheduler}", "{scheduler}"),
            "hidden": _ok("unknown", "不明"),
            "bfq": _warning(
                ("bfq: holds requests back to be fair", "bfq：公平さのため要求を待たせる"),
                _BETTER_SCHEDULER,
            ),
            "sorting": _warning(
                (
                    "{scheduler}: costs time and reorders on a disk that does not rotate",
                    "{scheduler}：非回転ディスクでは時間を費やし順序を変える",
                ),
                _BETTER_SCHEDULER,
            ),
        },
    ),
    "disk.poll": Entry(
        ("poll queues", "ポーリングキュー"),
        _MEASURED,
        {
            "on": _ok("available", "あり"),
            "off": _missing(
                (
                    "none (optional): polled completion cannot be studied",
                    "なし（任意）：ポーリング完了の検証はできない",
                ),
                (
                    "echo 'options {driver} poll_queues=4' > /etc/modprobe.d/poll.conf, then "
                    "reboot; or {driver}.poll_queues=4 on the kernel's command line",
                    "echo 'options {driver} poll_queues=4' > "
                    "/etc/modprobe.d/poll.confとして再起動。"
                    "またはカーネル引数に{driver}.poll_queues=4",
                ),
            ),
        },
    ),
    "disk.statistics": Entry(
        ("disk statistics", "ディスク統計"),
        _MEASURED,
        {
            "on": _ok("on", "有効"),
            "off": _warning(
                (
                    "off: the record's disk series will be zero",
                    "無効：記録のディスク系列がゼロになる",
                ),
                (
                    "echo 1 > /sys/block/{node}/queue/iostats",
                    "echo 1 > /sys/block/{node}/queue/iostats",
                ),
            ),
        },
    ),
    "disk.merges": Entry(
        ("merging of requests", "要求の結合"),
        _MEASURED,
        {
            "on": _ok("on", "有効"),
            "off": _warning(
                (
                    "off (nomerges = {setting}): small sequential requests are slower than usual",
                    "無効（nomerges = {setting}）：小さな連続要求が通常より不利になる",
                ),
                (
                    "echo 0 > /sys/block/{node}/queue/nomerges",
                    "echo 0 > /sys/block/{node}/queue/nomerges",
                ),
            ),
        },
    ),
    "disk.write_cache": Entry(
        ("write cache", "ライトキャッシュ"),
        _MEASURED,
        {
            "back": _ok(
                "write back: flushes go to the drive", "write back：フラッシュはドライブに届く"
            ),
            "through": _ok(
                "write through: the drive claims to need no flush",
                "write through：ドライブはフラッシュ不要と申告",
            ),
            "claimed": _warning(
                (
                    "write through on a virtual disk: no flush is sent, durability is the host's "
                    "word",
                    "仮想ディスクのwrite through：フラッシュは送られず、永続性はホストの申告による",
                ),
                (
                    "Ask the host how it caches (cache=none or writethrough is safe, "
                    "unsafe is not) before you trust a commit's time.",
                    "コミット時間を信じる前に、ホストのキャッシュ方式を確かめる"
                    "（cache=noneとwritethroughは安全、unsafeは危険）。",
                ),
            ),
        },
    ),
    "disk.link": Entry(
        ("PCIe link", "PCIeリンク"),
        _MEASURED,
        {
            "full": _ok("{now}", "{now}"),
            "reduced": _warning(
                ("{now}, where the drive can do {most}", "{now}（ドライブの能力は{most}）"),
                (
                    "Move the drive to a faster slot, or look at riser and power management "
                    "(pcie_aspm=off).",
                    "より速いスロットに移すか、ライザーと電源管理（pcie_aspm=off）を確かめる。",
                ),
            ),
        },
    ),
    "disk.sync": Entry(
        ("array resync", "アレイの状態"),
        _MEASURED,
        {
            "idle": _ok("idle", "待機中"),
            "busy": _warning(
                ("{action} is under way", "{action}を実行中"),
                ("Wait until cat /proc/mdstat shows none.", "cat /proc/mdstatで完了を待つ。"),
            ),
        },
    ),
}

CHECKS: dict[str, Entry] = _MACHINE | _MEANS | _TARGETS
