"""Words of reasons and of methods of intervals, English and Japanese, by code. tidy: table."""

from __future__ import annotations

REASONS = {
    # words of others
    "legacy": ("{text}", "{text}"),
    "quoted": ("{text}", "{text}"),
    # how a run ended
    "stopped": ("stopped before its end", "終了前に停止"),
    "worker_silent": ("the worker ended without a message", "ワーカーがメッセージなしで終了"),
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
        "the load generator, not the disk, was the limit: {subject}",
        "限界はディスクではなく負荷生成器：{subject}",
    ),
    "processors": (
        "the processors, not the disk, were the limit: {subject}",
        "限界はディスクではなくCPU：{subject}",
    ),
    "others": (
        "other programs kept the processors busy: {subject}",
        "他の処理がCPUを占有：{subject}",
    ),
    "close": (
        "the processors were nearly the limit, together with the disk: {subject}",
        "ディスクとともにCPUもほぼ限界：{subject}",
    ),
    "own_latency": (
        "latencies include the load generator's own scheduling delay: {subject}",
        "負荷生成器自身の開始遅れがレイテンシに含まれる：{subject}",
    ),
    "own_part": (
        "the load generator's own delay is part of the latencies: {subject}",
        "レイテンシの一部は負荷生成器自身の遅れ：{subject}",
    ),
    "client": (
        "the client, not the database, was the limit: {subject}",
        "限界はデータベースではなくクライアント：{subject}",
    ),
    "memory": (
        "memory answered most requests, not the disk: {subject}",
        "大部分はディスクではなくメモリが応答：{subject}",
    ),
    "shared": ("another program used the disk: {subject}", "他の処理がディスクを使用：{subject}"),
    "unseen": (
        "no disk could be observed, so the limit is unknown: {subject}",
        "ディスクを観測できず、何が限界かは不明：{subject}",
    ),
    "no_disk": (
        "the database is on no disk (a memory or overlay file system): {subject}",
        "データベースがメモリまたはオーバーレイ上にあり、ディスクは応答していない：{subject}",
    ),
    "queue_full": (
        "submission blocks because the system's queue to the disk is full: {subject}",
        "ディスクへのシステムのキューが満杯で、発行が待たされる：{subject}",
    ),
    "null_backend": (
        "nothing was read or written (--backend null): this measures the load generator",
        "読み書きなし（--backend null）：負荷生成そのものの測定",
    ),
    # arrivals
    "unserved": (
        "some arrivals were not served; rates and latencies are of those served: {subject}",
        "処理されなかった到着があり、レートとレイテンシは処理されたもののみの値：{subject}",
    ),
    "growing": (
        "load arrives faster than it is served; latencies grow with the length of the run: "
        "{subject}",
        "負荷の到着が処理を上回り、レイテンシは実行時間とともに増大"
        "（ストレージの特性ではない）：{subject}",
    ),
    "waited": (
        "many requests waited for a free slot (queue_depth): {subject}",
        "queue_depthの空きを待った開始が多数：{subject}",
    ),
    # nothing, or not everything, was completed
    "failed": (
        "commands failed; they count in no rate and no latency: {subject}",
        "失敗したコマンドがあり、頻度にもレイテンシにも含まれない：{subject}",
    ),
    "failing": (
        "{share} of the transactions failed; they count in no rate and no latency: {subject}",
        "失敗したトランザクション（全体の{share}）があり、"
        "レートとレイテンシに含まれない：{subject}",
    ),
    "few_failed": (
        "some transactions failed; they count in no rate and no latency: {subject}",
        "一部のトランザクションが失敗し、レートとレイテンシに含まれない：{subject}",
    ),
    "nothing": ("nothing was completed: {subject}", "完了したものがなく、数値がない：{subject}"),
    "nothing_measured": ("nothing was measured", "測定結果なし"),
    "ramped": (
        "the ramp used up the amount, nothing was left to measure: {subject}",
        "ランプ期間で総量を使い切り、測定する分が残っていない：{subject}",
    ),
    "dead": (
        "the storage stopped serving before the end; a mean over an outage is no rate: {subject}",
        "ストレージが終了前に停止（停止を含む平均はレートではない）：{subject}",
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
        "the mix of transactions is off: {names}",
        "トランザクションのミックスが規定外：{names}",
    ),
    "inconsistent": (
        "the database is inconsistent: {rows} rows break condition {number} of TPC-C's clause "
        "3.3.2",
        "データベースに不整合：TPC-C 3.3.2の条件{number}に{rows}行が違反",
    ),
    "commits_lost": (
        "{count} acknowledged commits are lost",
        "応答済みコミット{count}件が失われた",
    ),
    "commits_twice": (
        "{count} acknowledged commits are there twice",
        "応答済みコミット{count}件が重複",
    ),
    "commits_phantom": (
        "{count} commits are there that no client sent",
        "送信していないコミットが{count}件存在",
    ),
    "pages_torn": (
        "the power cut tore {count} pages, which cannot be repaired",
        "電源断で{count}ページが書きかけとなり、修復できない",
    ),
    "log_lost": (
        "the power cut lost pages that the log does not restore",
        "電源断で失われたページはログから復元できない",
    ),
    "storage_failed": (
        "the storage of the database failed, and the server with it",
        "データベースのストレージが故障し、サーバーも停止した",
    ),
    # start and place of a database
    "pool_raised": (
        "the buffer pool is 5 MiB, the server's minimum, not {asked}",
        "バッファプールは指定の{asked}ではなく最小の5 MiB",
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
    "replaced_engine": (
        "{product} stands for the engine `{engine}` of the study",
        "試験のエンジン`{engine}`の代わりに{product}を使用",
    ),
    "on_volume": (
        "power is cut in this run: its database is on XFS in a file behind a loop device, which is "
        "slower than the storage itself",
        "電源断を行う実行：データベースはループデバイス上のXFSにあり、ストレージ自体より遅い",
    ),
    "shared_disk": (
        "the storages {names} are one physical disk ({disk})",
        "ストレージ{names}は同じ物理ディスク（{disk}）",
    ),
    # steady state and repetitions
    "unsettled": (
        "steady state was not reached in {rounds} rounds: {subject}",
        "{rounds}ラウンドでは定常状態に達せず：{subject}",
    ),
    "unsettled_early": (
        "ended before steady state could be judged: {subject}",
        "定常状態の判定前に終了：{subject}",
    ),
    "drift_within": (
        "drift within a run: {subject} {operation}",
        "1回の実行内で変化傾向：{subject} {operation}",
    ),
    "transient": (
        "the beginning of a run differs from its rest: {subject} {operation}",
        "実行の始めがその後と異なる：{subject} {operation}",
    ),
    "drift_over": (
        "drift over the repetitions: {subject} {operation}",
        "繰り返しとともに変化傾向：{subject} {operation}",
    ),
    "outlier": (
        "one run is far from the others: {subject} {operation}",
        "かけ離れた実行あり：{subject} {operation}",
    ),
    "spread": (
        "runs differ widely, too few to tell why: {subject} {operation}",
        "実行間の差が大きく、原因を知るには回数不足：{subject} {operation}",
    ),
    "absent": (
        "not in every run: {subject} {operation}",
        "一部の実行にしか現れない：{subject} {operation}",
    ),
    # state of the flash, replicas
    "unwritten": (
        "most reads met flash that was never written and takes no time; set `written` of the "
        'storage to "once" or "steady": {subject}',
        "読み出しの大半が未書き込みのフラッシュに対するもので、時間がかからない"
        '（ストレージの`written`を"once"か"steady"に）：{subject}',
    ),
    "not_reclaiming": (
        "steady by the rule, but only {share} of the flash was used and garbage collection has not "
        "begun: {subject}",
        "規則上は定常だが、フラッシュの使用は{share}にとどまり、回収は未開始：{subject}",
    ),
    "not_overwritten": (
        "steady by the rule, but only {share} of the capacity was written; the SNIA PTS asks for "
        "twice the capacity: {subject}",
        "規則上は定常だが、書き込みは容量の{share}にとどまる"
        "（SNIA PTSは容量の2倍を要求）：{subject}",
    ),
    "behind": (
        "the replica falls behind without bound: writes are acknowledged faster than it takes "
        "them: {subject}",
        "書き込みの確認が複製側の受け入れを上回り、未到達分が実行時間とともに増え続ける"
        "（実際のメモリでは続かない）：{subject}",
    ),
    "worn_out": (
        "cells are worn beyond the limit of the drive's profile: {subject}",
        "セルの摩耗が、プロファイルで読み出し可能とされる範囲を超過：{subject}",
    ),
    # events that did not happen, and why
    "missed": ("an event did not happen: {subject}", "起きなかった出来事：{subject}"),
    "ended_before": (
        "the run, or the event's phase, ended before",
        "実行または出来事のフェーズがその前に終了",
    ),
    "server_down": ("the server was down", "サーバーは停止中"),
    "server_going_down": (
        "the server was down or shutting down",
        "サーバーは停止中、または停止の途中",
    ),
    "no_other_side": ("the pair has no other side any more", "もう一方の側はすでにない"),
    "nothing_to_replace": ("this device has no members to replace", "交換できるものがない"),
    "no_channels": ("only flash drives have channels", "チャネルがあるのはフラッシュドライブのみ"),
    "no_channel": ("the drive has no channel {channel}", "ドライブにチャネル{channel}はない"),
    "member_dead": ("member {member} is dead already", "メンバー{member}はすでに故障"),
    "everything_dead": ("everything is dead already", "すべてがすでに故障"),
    "channel_dead": ("channel {channel} is dead already", "チャネル{channel}はすでに故障"),
    "member_alive": (
        "member {member} is alive; only a dead one can be replaced",
        "メンバー{member}は正常（交換できるのは故障したもののみ）",
    ),
    "member_gone": (
        "member {member} is gone with its machine; a second failover is not modelled",
        "メンバー{member}はマシンごと失われた（別のペアはモデル化されていない）",
    ),
    "data_lost": (
        "the array has lost the data of member {member}",
        "メンバー{member}の内容を持つものがない（アレイはデータを失った）",
    ),
    # configurations that `tameshi ask` leaves out
    "no_room": (
        "it holds {held_capacity}, and {data_capacity} of data, {growth_capacity} of growth and "
        "{log_capacity} of log need {whole_capacity}",
        "容量{held_capacity}に対し、データ{data_capacity}、増分{growth_capacity}、"
        "ログ{log_capacity}の計{whole_capacity}が必要",
    ),
    # deviations from a published method
    "shortened": (
        "shortened: only the quick part of the study was run",
        "短縮版：スタディのquick部分のみを実行",
    ),
    "modelled": (
        "simulated: a model of a drive and not a drive",
        "シミュレーション：実機ではなくモデル",
    ),
    "scaled": (
        "simulated at a part of the capacity: one to {scale}",
        "容量を1/{scale}に縮小したシミュレーション",
    ),
    "not_purged": (
        "the drive was not purged before the run",
        "実行前にドライブをパージしていない",
    ),
    "file": ("a file of a file system and not a whole drive", "ドライブ全体ではなくファイル"),
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
    "part": (
        "a part of the drive is used, not all of it: {names}",
        "ドライブの一部のみを使用：{names}",
    ),
}
"""By code: English and Japanese, with the reason's subject and values in braces."""

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
