"""Words of reasons and of methods of intervals, English and Japanese, by code. tidy: table."""

from __future__ import annotations

REASONS = {
    # words of others
    "legacy": ("{text}", "{text}"),
    "quoted": ("{text}", "{text}"),
    # how a run ended
    "stopped": ("stopped before its end", "終了前に停止"),
    "worker_silent": ("the worker ended without a message", "ワーカーがメッセージなしで終了"),
    "imported": (
        "figures of {tool}, imported: machine, drive and load are not checked",
        "{tool}から取り込んだ値：マシン、ドライブ、負荷は未検証",
    ),
    # files of a run that differ from its seal
    "file_size": (
        "damaged: {subject} has {found} bytes, sealed with {sealed}",
        "破損：{subject}は{found}バイト（封印時は{sealed}バイト）",
    ),
    "file_content": (
        "damaged: {subject} does not have its sealed content",
        "破損：{subject}の内容が封印時と異なる",
    ),
    "file_missing": ("damaged: {subject} is missing", "破損：{subject}がない"),
    "file_unreadable": (
        "damaged: {subject} can't be read ({error})",
        "破損：{subject}を読めない（{error}）",
    ),
    # the limit was not the storage
    "generator": (
        "the load generator was the limit, not the disk: {subject}",
        "律速要因はディスクではなく負荷生成器：{subject}",
    ),
    "processors": (
        "the processors were the limit, not the disk: {subject}",
        "律速要因はディスクではなくプロセッサ：{subject}",
    ),
    "others": (
        "other programs kept the processors busy: {subject}",
        "他のプログラムがプロセッサを占有：{subject}",
    ),
    "close": (
        "the processors nearly were the limit, along with the disk: {subject}",
        "ディスクに加えてプロセッサもほぼ律速：{subject}",
    ),
    "machine_full": (
        "no processor of this machine was idle, which limits the server: {subject}",
        "このマシンにアイドルのプロセッサがなく、サーバーを制約：{subject}",
    ),
    "own_latency": (
        "latencies include the load generator's own scheduling delay: {subject}",
        "レイテンシに負荷生成器自身のスケジューリング遅延を含む：{subject}",
    ),
    "own_part": (
        "a part of the latencies is the load generator's own delay: {subject}",
        "レイテンシの一部は負荷生成器自身の遅延：{subject}",
    ),
    "client": (
        "the client was the limit, not the database: {subject}",
        "律速要因はデータベースではなくクライアント：{subject}",
    ),
    "memory": (
        "memory answered most requests, not the disk: {subject}",
        "要求の大部分にディスクではなくメモリが応答：{subject}",
    ),
    "shared": (
        "another program used the disk: {subject}",
        "他のプログラムがディスクを使用：{subject}",
    ),
    "unseen": (
        "no disk statistics, so the limit is unknown: {subject}",
        "ディスクの統計がなく、律速要因は不明：{subject}",
    ),
    "no_disk": (
        "the database is on no disk (memory or overlay file system): {subject}",
        "データベースがディスク上にない（メモリまたはオーバーレイファイルシステム）：{subject}",
    ),
    "queue_full": (
        "submission blocks because the system's queue of the disk is full: {subject}",
        "ディスクのシステム側キューが満杯で、要求の発行が待たされる：{subject}",
    ),
    "null_backend": (
        "no I/O took place (--backend null): this measures the load generator",
        "I/Oなし（--backend null）：負荷生成器自体の測定",
    ),
    # arrivals
    "unserved": (
        "some arrivals were not served; rates and latencies cover served ones only: {subject}",
        "処理されなかった到着がある。レートとレイテンシは処理された要求のみの値：{subject}",
    ),
    "growing": (
        "load arrives faster than it is served; latencies grow with the length of the run: "
        "{subject}",
        "到着レートが処理能力を超え、レイテンシは実行時間とともに増大：{subject}",
    ),
    "waited": (
        "many requests waited for a free slot (queue_depth): {subject}",
        "多数の要求が空きスロット（queue_depth）を待った：{subject}",
    ),
    # nothing, or not everything, was completed
    "failed": (
        "commands failed; they count in no rate and no latency: {subject}",
        "失敗したコマンドがあり、レートにもレイテンシにも含まれない：{subject}",
    ),
    "failing": (
        "{share} of the transactions failed; they count in no rate and no latency: {subject}",
        "トランザクションの{share}が失敗。レートにもレイテンシにも含まれない：{subject}",
    ),
    "few_failed": (
        "some transactions failed; they count in no rate and no latency: {subject}",
        "一部のトランザクションが失敗。レートにもレイテンシにも含まれない：{subject}",
    ),
    "nothing": ("nothing completed: {subject}", "完了した操作なし：{subject}"),
    "nothing_measured": ("nothing was measured", "測定結果なし"),
    "ramped": (
        "the ramp used up the amount, leaving nothing to measure: {subject}",
        "ランプ期間で総量を使い切り、測定対象が残っていない：{subject}",
    ),
    "dead": (
        "the storage stopped serving before the end; a mean over an outage is no rate: {subject}",
        "ストレージが終了前に停止（停止期間を含む平均はレートではない）：{subject}",
    ),
    # counts and data of a database
    "counts": (
        "client and server count different numbers of statements: {subject}",
        "クライアントとサーバーの文の計数が一致しない：{subject}",
    ),
    "transactions": (
        "client and server count different numbers of transactions: {subject}",
        "クライアントとサーバーのトランザクションの計数が一致しない：{subject}",
    ),
    "off_mix": (
        "shares of the transaction mix are out of bounds: {names}",
        "トランザクションのミックスが規定外：{names}",
    ),
    "inconsistent": (
        "the database is inconsistent: {rows} rows violate condition {number} of TPC-C clause "
        "3.3.2",
        "データベースに不整合：TPC-C 3.3.2の条件{number}に{rows}行が違反",
    ),
    "commits_lost": (
        "{count} acknowledged commits are lost",
        "応答済みコミット{count}件が失われた",
    ),
    "commits_twice": (
        "{count} acknowledged commits are duplicated",
        "応答済みコミット{count}件が重複",
    ),
    "commits_phantom": (
        "{count} commits exist that no client sent",
        "クライアントが送信していないコミットが{count}件存在",
    ),
    "pages_torn": (
        "the power cut tore {count} pages beyond repair",
        "電源断で{count}ページが修復不能な部分書き込みとなった",
    ),
    "log_lost": (
        "the power cut lost pages that the log cannot restore",
        "電源断で失われたページをログから復元できない",
    ),
    "storage_failed": (
        "the database's storage failed, and the server with it",
        "データベースのストレージが故障し、サーバーも停止した",
    ),
    # start and place of a database
    "pool_raised": (
        "the buffer pool is 5 MiB, the server's minimum, not {asked}",
        "バッファプールは指定の{asked}ではなく最小の5 MiB",
    ),
    "server_pool_raised": (
        "the buffer pool is {least_bytes}, the minimum of {subject}, not {asked}",
        "バッファプールは指定の{asked}ではなく、{subject}の最小の{least_bytes}",
    ),
    "log_raised": (
        "the redo log is 1 MiB, the server's minimum, not {asked}",
        "REDOログは指定の{asked}ではなく最小の1 MiB",
    ),
    "cold_unknown": (
        "whether the start was cold is unknown: the server does not report its buffer pool",
        "開始時がコールドか不明：サーバーがバッファプールの内容を報告しない",
    ),
    "pool_not_cold": (
        "the start was not cold: the buffer pool held {found_bytes} at t0, more than {bound_bytes}",
        "開始時がコールドではない：t0でバッファプールに{found_bytes}（上限{bound_bytes}）",
    ),
    "page_cache_not_cold": (
        "the start was not cold: the page cache held {found_bytes} of the files at t0, more than "
        "{bound_bytes}",
        "開始時がコールドではない：t0でページキャッシュに{found_bytes}（上限{bound_bytes}）",
    ),
    "warm_unknown": (
        "whether the start was warm is unknown: the server does not report its buffer pool",
        "開始時がウォームか不明：サーバーがバッファプールの内容を報告しない",
    ),
    "pool_not_warm": (
        "the start was not warm: the buffer pool held {found_bytes} of {whole_bytes} at t0",
        "開始時がウォームではない：t0でバッファプールに{whole_bytes}のうち{found_bytes}",
    ),
    "page_cache_not_warm": (
        "the start was not warm: the page cache held {found_bytes} of {whole_bytes} at t0",
        "開始時がウォームではない：t0でページキャッシュに{whole_bytes}のうち{found_bytes}",
    ),
    "untested_product": (
        "Tameshi was never tested on {product} itself",
        "Tameshiは{product}本体では未検証",
    ),
    "standby_as_mirror": (
        "its standby is simulated as a mirror of blocks, which starts with a cold buffer pool",
        "待機系はブロックのミラーとしてシミュレーションし、バッファプールは空の状態で始まる",
    ),
    "replaced_engine": (
        "{product} replaces the study's engine `{engine}`",
        "スタディのエンジン`{engine}`の代わりに{product}を使用",
    ),
    "on_volume": (
        "this run cuts power: its database is on XFS in a file behind a loop device, which is "
        "slower than the storage itself",
        "電源断を行う実行のため、データベースはループデバイス上のXFSにあり、ストレージ自体より遅い",
    ),
    "served_late": (
        "the drive of {subject} answered {operation} requests {late_ns} late at the median; its "
        "model takes {modelled_ns}",
        "{subject}のドライブの{operation}の応答が中央値で{late_ns}遅延（モデルの所要時間は{modelled_ns}）",
    ),
    "served_short": (
        "the model of {subject} completes {share} of {operation} requests sooner than the path "
        "through the kernel; each took {missing_ns} more",
        "{subject}のモデルでは{operation}の{share}がカーネル経路より短く、1回あたり{missing_ns}余計にかかった",
    ),
    "served_path": (
        "requests to the drive of {subject} spent {share} of their time in the kernel, beyond what "
        "was measured at the start: the machine is busy",
        "{subject}のドライブへの要求は時間の{share}を開始時の測定を超えてカーネル内で消費（マシンが混雑）",
    ),
    "served_unpaced": (
        "the drive of {subject} ran without real-time priority or on sleeping processors",
        "{subject}のドライブはリアルタイム優先度なし、またはスリープするプロセッサ上で動作",
    ),
    "served_moved": (
        "the drive of {subject} answered too late for {share} of its time: rates differ from the "
        "model's",
        "{subject}のドライブは時間の{share}だけ応答が遅く、レートがモデルと異なる",
    ),
    "shared_disk": (
        "the storages {names} share one physical disk ({disk})",
        "ストレージ{names}は同じ物理ディスク（{disk}）",
    ),
    # steady state and repetitions
    "unsettled": (
        "no steady state after {rounds} rounds: {subject}",
        "{rounds}ラウンドでは定常状態に到達せず：{subject}",
    ),
    "unsettled_early": (
        "ended before steady state could be judged: {subject}",
        "定常状態の判定前に終了：{subject}",
    ),
    "drift_within": (
        "drift within a run: {subject} {operation}",
        "実行内でドリフト：{subject} {operation}",
    ),
    "transient": (
        "the start of a run differs from its rest: {subject} {operation}",
        "実行の開始直後がその後と異なる：{subject} {operation}",
    ),
    "drift_over": (
        "drift over the repetitions: {subject} {operation}",
        "繰り返しを通じたドリフト：{subject} {operation}",
    ),
    "outlier_host": (
        "host {host} differs from all others: {subject} {operation}",
        "ホスト{host}だけが他と異なる：{subject} {operation}",
    ),
    "outlier": (
        "one run is an outlier: {subject} {operation}",
        "外れ値の実行あり：{subject} {operation}",
    ),
    "spread": (
        "runs differ widely, but are too few to tell why: {subject} {operation}",
        "実行間のばらつきが大きいが、回数が少なく原因は不明：{subject} {operation}",
    ),
    "absent": (
        "missing from some runs: {subject} {operation}",
        "一部の実行に現れない：{subject} {operation}",
    ),
    # state of the flash, replicas
    "unwritten": (
        "most reads hit never-written flash, which takes no time; set `written` of the storage "
        'to "once" or "steady": {subject}',
        "読み出しの大半が未書き込みのフラッシュに対するもので、時間がかからない（ストレージの"
        '`written`を"once"か"steady"にする）：{subject}',
    ),
    "not_reclaiming": (
        "steady by the rule, but the flash is only {share} used and garbage collection has not "
        "started: {subject}",
        "規則上は定常だが、フラッシュの使用は{share}にとどまり、ガベージコレクションは未開始："
        "{subject}",
    ),
    "not_overwritten": (
        "steady by the rule, but only {share} of the capacity was written; the SNIA PTS "
        "requires twice the capacity: {subject}",
        "規則上は定常だが、書き込みは容量の{share}にとどまる（SNIA PTSは容量の2倍を要求）："
        "{subject}",
    ),
    "behind": (
        "the replica falls behind without bound: writes are acknowledged faster than it "
        "applies them: {subject}",
        "書き込みの応答が複製側の適用より速く、複製の遅れが際限なく増大：{subject}",
    ),
    "checkpoint": (
        "no steady state: the checkpoint age grows, as pages are changed faster than written: "
        "{subject}",
        "定常状態ではない：ページの変更が書き込みより速く、チェックポイント経過量が増大：{subject}",
    ),
    "worn_out": (
        "cells are worn beyond the endurance of the drive's profile: {subject}",
        "セルの摩耗がプロファイルの耐久性を超過：{subject}",
    ),
    # events that did not happen, and why
    "missed": ("an event did not happen: {subject}", "実行されなかったイベント：{subject}"),
    "ended_before": (
        "the run, or the event's phase, ended first",
        "実行またはイベントのフェーズが先に終了",
    ),
    "server_down": ("the server was down", "サーバーは停止中"),
    "server_going_down": (
        "the server was down or shutting down",
        "サーバーは停止中、または停止の途中",
    ),
    "no_lost_side": ("no side of the pair is lost", "ペアのどちらの側も失われていない"),
    "no_other_side": ("the pair has lost its other side", "ペアのもう一方の側はすでにない"),
    "nothing_to_replace": ("this device has no members to replace", "交換できるメンバーがない"),
    "no_channels": ("only flash drives have channels", "チャネルがあるのはフラッシュドライブのみ"),
    "no_channel": ("the drive has no channel {channel}", "ドライブにチャネル{channel}はない"),
    "member_dead": ("member {member} has already failed", "メンバー{member}はすでに故障"),
    "everything_dead": ("every member has already failed", "全メンバーがすでに故障"),
    "channel_dead": ("channel {channel} has already failed", "チャネル{channel}はすでに故障"),
    "member_alive": (
        "member {member} works; only a failed member can be replaced",
        "メンバー{member}は正常（交換できるのは故障したもののみ）",
    ),
    "member_gone": (
        "member {member} is lost with its machine; a second failover is not modelled",
        "メンバー{member}はマシンごと失われた（2度目のフェイルオーバーはモデル化されていない）",
    ),
    "data_lost": (
        "the array has lost the data of member {member}",
        "アレイがメンバー{member}のデータを失った",
    ),
    # configurations that `tameshi ask` leaves out
    "no_room": (
        "capacity {held_capacity}; {data_capacity} of data, {growth_capacity} of growth and "
        "{log_capacity} of log need {whole_capacity}",
        "容量{held_capacity}に対し、データ{data_capacity}、増分{growth_capacity}、ログ"
        "{log_capacity}の計{whole_capacity}が必要",
    ),
    # deviations from a published method
    "shortened": (
        "shortened: only the quick part of the study was run",
        "短縮版：スタディのquick部分のみを実行",
    ),
    "modelled": (
        "simulated: a model of a drive, not a drive",
        "シミュレーション：実機ではなくモデル",
    ),
    "scaled": (
        "simulated at 1/{scale} of the capacity",
        "容量を1/{scale}に縮小したシミュレーション",
    ),
    "not_purged": (
        "the drive was not purged before the run",
        "実行前にドライブをパージしていない",
    ),
    "file": ("a file of a file system, not a whole drive", "ドライブ全体ではなくファイル"),
    "virtual": (
        "a virtual disk, whose hardware is shared and unknown",
        "仮想ディスク。ハードウェアは共有されており不明",
    ),
    "cache_unknown": (
        "the state of the write cache is unknown",
        "書き込みキャッシュの状態は不明",
    ),
    "cache_on": (
        "the write cache is on, as the specification for clients has it",
        "書き込みキャッシュは有効（クライアント向け仕様と同じ）",
    ),
    "part": ("only a part of the drive is used: {names}", "ドライブの一部のみを使用：{names}"),
    # effects that the model leaves out
    "md_bitmap": (
        "md's write-intent bitmap and its barrier at a flush, which slow writes of: {names}",
        "mdのwrite-intentビットマップとフラッシュ時のバリア（実機では書き込みが遅くなる）：{names}",
    ),
    "no_host": (
        "the cost of system calls and interrupts (the study has no [host])",
        "システムコールと割り込みのコスト（スタディに[host]がない）",
    ),
    # cells that a fit leaves out
    "no_run": ("no run shows this cell", "このセルを含む実行がない"),
    "too_few_operations": ("too few operations", "操作数が少なすぎる"),
    "concurrent_streams": ("more than one stream at a time", "複数のストリームが同時に動作"),
    "open_loop": ("open loop: the rate is the requested one", "オープンループのレートは指定値"),
    "page_cache": ("the I/O used the page cache", "I/Oがページキャッシュを経由"),
    "paused": ("the stream pauses", "ストリームに休止あり"),
    "littles_law": (
        "inconsistent by Little's law: rate times latency is {outstanding}, but {depth} requests "
        "were outstanding",
        "リトルの法則に反する：レート×レイテンシは{outstanding}、要求の同時実行数は{depth}",
    ),
    "no_latencies": ("no latencies recorded", "レイテンシの記録なし"),
    "no_syncs": (
        "durable writes requested, but fio recorded no sync",
        "書き込みの永続化を要求したが、fioの結果に同期の記録なし",
    ),
    "no_operations": ("no reads and no writes", "読み出しも書き込みもなし"),
    "clones_missing": (
        "{shown} of {clones} clones recorded",
        "{clones}個の複製のうち{shown}個しか記録がない",
    ),
    "clones_mismatch": (
        "{shown} jobs of this name ran at once, but numjobs is {clones}",
        "この名前のジョブが{shown}個同時に動作したが、numjobsは{clones}",
    ),
    "clones_grouped": (
        "group_reporting sums {shown} jobs here, but numjobs is {clones}",
        "group_reportingにより{shown}個のジョブの合計だが、numjobsは{clones}",
    ),
    "shared_group": (
        "other streams may have run at once: same group as {sections}",
        "他のストリームが同時に動作した可能性：{sections}と同じグループ",
    ),
    "fio_failed": ("fio error {number}: {words}", "fioのエラー{number}：{words}"),
    "invalid_option": (
        "{key}: {message} (found {found}; accepted: {accepted})",
        "{key}：{message}（指定値{found}、有効値：{accepted}）",
    ),
    # parameters that a fit cannot determine
    "capacity_unknown": (
        "device size unknown; set it with --size",
        "デバイスの容量が不明。--sizeで指定可能",
    ),
    "untested_depth": (
        "more than {depth} outstanding requests were not measured",
        "{depth}件を超える同時要求は測定していない",
    ),
    "never_alone": ("no cell of this kind alone", "この種類だけのセルがない"),
    "one_depth": ("all cells have the same depth", "全セルのキュー深度が同じ"),
    "one_length": ("all requests have the same length", "全要求の長さが同じ"),
    "never_synced": ("no write was followed by a sync", "書き込み後の同期がない"),
    "data_placement": (
        "effects of the data's place and age, and of burst credits",
        "データの位置と経過時間、バーストクレジットの影響",
    ),
    "needs_overwriting": (
        "garbage collection starts only after random writes of about twice the capacity",
        "ガベージコレクションは容量の約2倍のランダム書き込み後に始まる",
    ),
    "only_products": (
        "only the products with their times are observable",
        "時間との積しか観測できない",
    ),
    "no_wear": (
        "the cells neither wear nor heat the drive",
        "測定したセルではドライブの摩耗も発熱も生じない",
    ),
    "only_link_rates": (
        "only the link's rates are observable",
        "リンクの転送速度しか観測できない",
    ),
    "needs_power_cuts": ("observable only with power cuts", "電源断でしか観測できない"),
    "one_stretch": (
        "the cells cover one stretch of the disk",
        "測定したセルはディスクの一区間に限られる",
    ),
    "only_tail": (
        "visible only in the longest latencies",
        "最も長いレイテンシにしか現れない",
    ),
}
"""By code: English and Japanese, with the reason's subject and values in braces."""

CAUSES = {
    "generator": ("where the load generator was the limit", "負荷生成器が律速"),
    "processors": ("where the processors were full", "プロセッサが飽和"),
    "others": (
        "where other programs kept the processors busy",
        "他のプログラムがプロセッサを占有",
    ),
    "close": ("where the processors were nearly full", "プロセッサがほぼ飽和"),
    "machine_full": (
        "where no processor of this machine was idle",
        "このマシンにアイドルのプロセッサなし",
    ),
    "own_latency": (
        "where latencies include the load generator's own delay",
        "レイテンシに負荷生成器の遅延を含む",
    ),
    "own_part": (
        "where latencies include some of the load generator's own delay",
        "レイテンシの一部は負荷生成器の遅延",
    ),
    "client": ("where the client was the limit", "クライアントが律速"),
    "memory": ("where memory answered, not the disk", "ディスクではなくメモリが応答"),
    "shared": ("where another program used the disk", "他のプログラムがディスクを使用"),
    "unseen": ("where the limit is unknown for lack of disk statistics", "律速要因は不明"),
    "null_backend": ("which performed no I/O (--backend null)", "I/Oなし（--backend null）"),
    "unserved": ("where some arrivals were not served", "処理されない到着あり"),
    "growing": ("where load arrived faster than it was served", "到着が処理能力を超過"),
    "waited": ("where requests waited for a free slot", "要求が空きスロットを待った"),
    "failed": ("where commands failed", "失敗したコマンドあり"),
    "nothing": ("where nothing completed", "完了した操作なし"),
    "unsettled": ("which reached no steady state", "定常状態に到達せず"),
    "unsettled_early": ("which ended before steady state could be judged", "定常状態は未判定"),
    "drift_within": ("which drifted within a run", "実行内でドリフト"),
    "transient": ("whose start differs from the rest", "開始直後がその後と異なる"),
    "drift_over": ("which drifted over the repetitions", "繰り返しを通じてドリフト"),
    "outlier_host": ("of a host that differs from all others", "他と異なるホストのセル"),
    "outlier": ("with an outlier among the runs", "外れ値の実行あり"),
    "spread": ("whose runs differ widely", "実行間のばらつきが大きい"),
    "absent": ("which some runs lack", "一部の実行に現れない"),
    "unwritten": ("whose reads hit never-written flash", "未書き込みのフラッシュを読み出し"),
    "behind": ("where the replica fell behind", "複製の遅れが増大"),
    "served_late": ("whose drives answered late", "ドライブの応答が遅延"),
    "served_short": (
        "whose drives complete some requests sooner than the path",
        "ドライブの一部の要求がカーネル経路より短い",
    ),
    "served_path": (
        "whose requests were held up in the kernel",
        "要求がカーネル内で滞留",
    ),
    "served_unpaced": (
        "whose drives ran without real-time priority or on sleeping processors",
        "ドライブがリアルタイム優先度なし、またはスリープするプロセッサ上で動作",
    ),
    "served_moved": (
        "whose drives answered too late for the model's rates",
        "ドライブの遅延によりレートがモデルと異なる",
    ),
    "worn_out": ("where cells are worn out", "セルの摩耗が限度を超過"),
}
"""Reasons of doubtful cells by code, as clauses after the cells: English and Japanese."""

METHODS = {
    "t_runs_log": (
        "Student's t over runs, on logarithms",
        "実行間のスチューデントのt、対数上",
    ),
    "t_runs": ("Student's t over runs", "実行間のスチューデントのt"),
    "t_within": (
        "Student's t within one run, corrected for serial correlation",
        "1回の実行内のスチューデントのt、系列相関を補正",
    ),
    "quantiles_within": (
        "quantiles within one run, corrected for serial correlation",
        "1回の実行内の分位点、系列相関を補正",
    ),
    "t_paired_log": (
        "paired t on logarithms, by repetition",
        "繰り返しごとの対応のあるt、対数上",
    ),
    "welch_log": (
        "Welch's t on logarithms, of the two sides' intervals",
        "両者の区間によるウェルチのt、対数上",
    ),
    "mover_log": (
        "MOVER on logarithms, of the two sides' intervals",
        "両者の区間によるMOVER法、対数上",
    ),
}
"""By code of an interval's method: English and Japanese."""
