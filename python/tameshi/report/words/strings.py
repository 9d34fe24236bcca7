"""tidy: table. Every string that a report or a comparison can print, in English and Japanese."""

from __future__ import annotations

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
    "section.why": ("Where the time goes", "時間の内訳"),
    "section.database": ("The database", "データベース"),
    "section.endurance": ("What it does to the flash", "フラッシュへの影響"),
    "section.power": ("What it costs in power", "消費電力"),
    "section.interference": ("Who disturbs whom", "誰が誰を妨げるか"),
    "section.numbers": ("All numbers", "全数値"),
    "section.verdicts": ("Is it valid?", "結果は有効か"),
    "section.timeline": ("What happened", "出来事の経過"),
    "section.limits": ("How much load it bears", "どれだけの負荷に耐えるか"),
    "section.slowest": ("The slowest operations", "最も遅かった操作"),
    "section.method": ("The method, and deviations from it", "準拠する方法と、そこからの逸脱"),
    "section.steady": ("Steady state", "定常状態"),
    "section.published": ("Beside published figures", "公表値との比較"),
    "section.environment": ("Environment", "環境"),
    "section.reproduce": ("How to reproduce", "再現手順"),
    "section.caveats": ("Caveats", "注意事項"),
    # what `tameshi ask` was asked
    "section.asked": ("What was asked", "質問と構成"),
    "asked.topic": ("What is enough", "必要な構成"),
    "asked.trust": ("How far to trust it", "信頼できる範囲"),
    "asked.hangs": ("What it hangs on", "結果を左右するもの"),
    "asked.question": (
        "Which storage and which buffer pool reach {target} on {size} of {workload}?",
        "{size}の{workload}で{target}に達するストレージとバッファプールはどれか？",
    ),
    "asked.target": ("{rate} statements a second", "毎秒{rate}文"),
    "asked.target_limit": (
        "{rate} statements a second with 99 % of every kind of transaction within {limit}",
        "すべての種類のトランザクションの99 %が{limit}以内で毎秒{rate}文",
    ),
    "asked.cheapest": (
        "The cheapest that reaches {target} is {storage} with a buffer pool of {pool}, at {cost}: "
        "{qps} statements a second, {tail}.",
        "{target}に達する最も安い構成は{storage}とバッファプール{pool}、費用{cost}："
        "毎秒{qps}文、{tail}。",
    ),
    "asked.smallest": (
        "The smallest that reaches {target} is {storage} with a buffer pool of {pool}: "
        "{qps} statements a second, {tail}.",
        "{target}に達する最小の構成は{storage}とバッファプール{pool}：毎秒{qps}文、{tail}。",
    ),
    "asked.none": (
        "None that was simulated reaches {target}. The fastest is {storage} with a buffer pool of "
        "{pool}: {qps} statements a second, {tail}.",
        "シミュレーションした中に{target}に達する構成はない。最も速いのは{storage}とバッファプール{pool}："
        "毎秒{qps}文、{tail}。",
    ),
    "asked.falls": (
        "With {storage} a larger pool is not always enough: {meets} reaches the target and "
        "{misses} does not.",
        "{storage}ではプールを大きくしても届くとは限らない：{meets}は目標に届き、{misses}は届かない。",
    ),
    "asked.chance_rate": (
        "Chance alone leaves {rate} statements a second (95 %), which lies on either side of the "
        "target.",
        "偶然による誤差だけでも毎秒{rate}文（95 %）で、目標の両側にまたがる。",
    ),
    "asked.chance_tail": (
        "Chance alone leaves a p99 of {tail} (95 %), which lies on either side of the target.",
        "偶然による誤差だけでもp99は{tail}（95 %）で、目標の両側にまたがる。",
    ),
    "asked.tail": ("p99 of {kind}, the slowest, {p99}", "最も遅い{kind}のp99は{p99}"),
    "asked.tail_alone": ("p99 {p99}", "p99は{p99}"),
    "asked.interrupted": (
        "Interrupted before any configuration was simulated.",
        "どの構成のシミュレーションも終わらないうちに中断された。",
    ),
    "asked.partly": (
        "Interrupted: not every configuration was simulated.",
        "中断されたため、一部の構成はシミュレーションしていない。",
    ),
    "asked.nothing": (
        "No configuration could be simulated.",
        "どの構成もシミュレーションできなかった。",
    ),
    "asked.model": (
        "The model itself may be off: {qps} statements a second, p99 {p99} (90 %).",
        "モデル自体の誤差を含めると毎秒{qps}文、p99は{p99}（90 %）。",
    ),
    "asked.model_missed": (
        "The model itself may be off: {qps} statements a second, p99 {p99} (90 %), which misses "
        "the target in any case.",
        "モデル自体の誤差を含めると毎秒{qps}文、p99は{p99}（90 %）で、"
        "いずれにしても目標に届かない。",
    ),
    "asked.model_unsure": (
        "The model itself may be off: {qps} statements a second, p99 {p99} (90 %), which lies on "
        "either side of the target.",
        "モデル自体の誤差を含めると毎秒{qps}文、p99は{p99}（90 %）で、目標の両側にまたがる。",
    ),
    "asked.inside": (
        "The question lies inside what was validated ({on}).",
        "質問は検証済みの範囲内にある（{on}）。",
    ),
    "asked.outside": (
        "The question lies outside what was validated ({on}).",
        "質問は検証済みの範囲外にある（{on}）。",
    ),
    "asked.fitted": (
        "The question lies where the model was fitted on a known figure ({there}); how far off it "
        "may be comes from other figures ({on}).",
        "質問はモデルを既知の値に適合させた所にある（{there}）。誤差の範囲は他の既知の値による（{on}）。",
    ),
    "asked.scaled": (
        "Simulated at 1/{scale} of the size, data, pool, log and drives alike, for {time}.",
        "データ、プール、ログ、ドライブを等しく1/{scale}の大きさにし、{time}シミュレーションした。",
    ),
    "asked.rounded": (
        "TPC-C has whole warehouses: {simulated} of data were simulated for {size}.",
        "TPC-Cの倉庫は整数個のため、{size}の代わりに{simulated}をシミュレーションした。",
    ),
    "asked.size_rounded": (
        "{size} (simulated: {simulated})",
        "{size}（シミュレーションは{simulated}）",
    ),
    "asked.full": (
        "Simulated at full size for {time}.",
        "実際の大きさで{time}シミュレーションした。",
    ),
    "asked.most": (
        "{input} does most: {at_low} statements a second with {low}, {at_high} with {high}.",
        "最も影響するのは{input}：{low}なら毎秒{at_low}文、{high}なら{at_high}文。",
    ),
    "asked.most_p99": (
        "{input} does most: a p99 of {at_low} with {low}, of {at_high} with {high}.",
        "最も影響するのは{input}：p99は{low}なら{at_low}、{high}なら{at_high}。",
    ),
    "asked.firm": (
        "No value that was tried turns the answer over.",
        "試した値のどれも答えを覆さない。",
    ),
    "asked.misses": ("It misses the target with {inputs}.", "{inputs}では目標に届かない。"),
    "asked.reaches": ("It reaches the target with {inputs}.", "{inputs}なら目標に届く。"),
    "asked.left": ("Left out", "除外"),
    "asked.left_one": ("{name}: {reason}", "{name}：{reason}"),
    "asked.left_all": ("{items}.", "{items}。"),
    "asked.left_more": ("{items}; and {count} more.", "{items}、他{count}件。"),
    "asked.yes": ("yes", "はい"),
    "asked.no": ("no", "いいえ"),
    "asked.failed": ("failed", "失敗"),
    "asked.column.level": ("Configuration", "構成"),
    "asked.column.reason": ("Why", "理由"),
    "asked.column.pool": ("Buffer pool", "バッファプール"),
    "asked.column.meets": ("Reaches the target", "目標に届くか"),
    "asked.column.qps": ("Statements a second", "毎秒の文"),
    "asked.column.p99": ("p99 of the slowest kind", "最も遅い種類のp99"),
    "asked.column.p99_of": ("Slowest kind", "最も遅い種類"),
    "asked.column.hit_ratio": ("Hit ratio", "ヒット率"),
    "asked.column.watts": ("Power, at most", "消費電力（最大）"),
    "asked.column.cost": ("Cost", "費用"),
    "asked.column.value": ("Value", "値"),
    "table.asked": ("What reaches {target}", "{target}に達する構成"),
    "note.asked": (
        "In parentheses: the 95 % interval of chance within the runs.",
        "括弧内は実行内の偶然による95 %区間。",
    ),
    "table.left_out": ("What could not be simulated", "シミュレーションできなかったもの"),
    "table.sensitivity": (
        "{storage} with {pool}, with other values of what is not known",
        "{storage}と{pool}で、不明な入力を変えた場合",
    ),
    "note.inputs": (
        "One input at a time. TPC-C's and sysbench's rows have fixed sizes: larger rows are so "
        "much more data there.",
        "一度に一つの入力を変える。TPC-Cとsysbenchの行の大きさは固定なので、その分データ量を増減する。",
    ),
    "table.assumed": ("What was assumed", "前提"),
    "assumed.database": ("Data set", "データ量"),
    "assumed.workload": ("Workload", "ワークロード"),
    "assumed.clients": ("Clients", "クライアント"),
    "assumed.engine": ("Server", "サーバー"),
    "assumed.host": ("Host", "ホスト"),
    "assumed.redo_log": ("Redo log", "REDOログ"),
    "assumed.start": ("Start", "開始状態"),
    "assumed.scale": ("Size simulated", "シミュレーションの大きさ"),
    "assumed.ramp": ("Ramp", "助走"),
    "assumed.time": ("Measured for", "測定時間"),
    "name.input.redo_log": ("redo log", "REDOログ"),
    "name.input.clients": ("clients", "クライアント数"),
    "name.input.row_size": ("row size", "行の大きさ"),
    "name.input_low": ("least value", "最小値"),
    "name.input_high": ("greatest value", "最大値"),
    "mark.answer": ("the answer", "答え"),
    "mark.target": ("the target", "目標"),
    "axis.statements": ("statements / s", "文 / 秒"),
    "axis.slowest": ("p99 of the slowest kind", "最も遅い種類のp99"),
    "figure.sensitivity": (
        "What is not known, with {storage} and {pool}",
        "不明な入力の影響（{storage}、{pool}）",
    ),
    "hint.sensitivity": (
        "Each bar: from the answer to what one other value of an input makes of it.",
        "棒は、一つの入力を変えたときの答えからの変化。",
    ),
    # how far the model of a database may be off
    "table.model": (
        "On what the intervals of the model stand: those of the statements a second",
        "モデルの誤差の根拠（毎秒の文）",
    ),
    "note.model": (
        "The interval comes from comparable figures that are known and from what the parameters "
        "leave open, apart from what chance does. What is known of several cells was off "
        "unequally: a ratio is no surer than the less sure of its two figures.",
        "既知の比較対象とパラメーターの不確かさによる区間。偶然によるばらつきとは別。"
        "既知のセルの誤差は一様でないため、比の誤差は両者のうち大きい方に等しいとする。",
    ),
    "table.model_store": (
        "On what the intervals of the document store's model stand",
        "ドキュメントストアのモデルの誤差の根拠",
    ),
    "note.model_store": (
        "A document store is modelled as a journal and a merge tree. Where nothing comparable is "
        "known its interval is a judgement of what the parameters leave open, and no validation.",
        "ドキュメントストアはジャーナルとマージツリーとしてモデル化している。比較対象がないとき、区間は"
        "パラメーターの不確かさの見積もりであり、検証の結果ではない。",
    ),
    "modelled.figure": ("Figure", "値"),
    "modelled.cell": ("Cell", "セル"),
    "modelled.inside": ("Inside what was validated", "検証済みの範囲内か"),
    "modelled.fitted": ("yes: fitted there ({names})", "はい：適合に使用（{names}）"),
    "modelled.nothing": ("nothing comparable is known", "比較対象なし"),
    "modelled.none": ("not validated", "未検証"),
    "modelled.on": ("validated on {names}", "検証の対象：{names}"),
    "check.model": (
        "{said}; how far the model may be off (90 %): {times}; {on}",
        "{said}。モデルの誤差の範囲（90 %）：{times}；{on}",
    ),
    "time.away_ns": ("away {span}", "停止{span}"),
    "time.recovery_ns": ("starting {span}", "起動{span}"),
    "time.shutdown_ns": ("shutting down {span}", "停止処理{span}"),
    "time.for_ns": ("reading back {span}", "読み戻し{span}"),
    "time.first_success_ns": ("first success {span}", "最初の成功まで{span}"),
    "time.recovered_ns": ("nine tenths of the rate {span}", "以前の90 %まで{span}"),
    "modelled.validated_on": ("Validated on", "検証の対象"),
    # events and the service between them
    "table.timeline": (
        "Events of phase {phase}, and the service after each",
        "フェーズ「{phase}」の出来事とその後の性能",
    ),
    "note.timeline": (
        "Times from the begin of the phase, of the first run. Rates and means over the recorded "
        "intervals that lie between two events whole: what is shorter than an interval has "
        "none. What failed in an interval that events cut is counted from the first fault in it "
        "on, without a fault from the event before it.",
        "時刻はフェーズ開始から（最初の実行）。頻度と平均は出来事の間に完全に収まる記録区間から。"
        "記録区間より短い間には値がない。出来事で分かれる記録区間に失敗したコマンドは、"
        "その区間の最初の障害以降に、障害がなければ区間より前の出来事以降に数える。",
    ),
    "timeline.time": ("Time", "時刻"),
    "timeline.happened": ("What happened at its begin", "開始時の出来事"),
    "timeline.rate": ("Per second", "毎秒"),
    "timeline.mean": ("Mean latency", "平均レイテンシ"),
    "timeline.failed": ("Failed commands", "失敗したコマンド"),
    "timeline.rebuild": ("Rebuild writes", "リビルドの書き込み"),
    "timeline.fail": ("member {member} of {storage} fails", "{storage}のメンバー{member}が故障"),
    "timeline.lost_with_it": (
        "{said}, and with it {writes} acknowledged writes ({bytes}) that the far side lacks",
        "{said}、遠隔側にない応答済みの書き込み{writes}件（{bytes}）を喪失",
    ),
    "timeline.fail_all": ("{storage} fails as a whole", "{storage}全体が故障"),
    "timeline.fail_channel": (
        "channel {channel} of member {member} of {storage} dies, and its rebuild begins",
        "{storage}のメンバー{member}のチャネル{channel}が故障、リビルド開始",
    ),
    "timeline.fail_last_channel": (
        "channel {channel} of member {member} of {storage} dies, and the drive with it",
        "{storage}のメンバー{member}のチャネル{channel}が故障し、ドライブも故障",
    ),
    "timeline.replace": (
        "member {member} of {storage} is replaced and its rebuild begins",
        "{storage}のメンバー{member}を交換、リビルド開始",
    ),
    "timeline.rebuilt": (
        "member {member} of {storage} is rebuilt: {bytes} in {time}",
        "{storage}のメンバー{member}のリビルド完了：{bytes}、{time}",
    ),
    "timeline.rebuilt_scaled": (
        "member {member} of {storage} is rebuilt: {bytes} in {time}; a whole drive takes {scale} "
        "times as long",
        "{storage}のメンバー{member}のリビルド完了：{bytes}、{time}（全容量ではその{scale}倍）",
    ),
    "timeline.rebuilt_channel": (
        "member {member} of {storage} has moved what reclaiming had left across channel "
        "{channel}: {bytes} in "
        "{time}",
        "{storage}のメンバー{member}でチャネル{channel}のリビルド完了：{bytes}、{time}",
    ),
    "timeline.rebuilt_channel_scaled": (
        "member {member} of {storage} has moved what reclaiming had left across channel "
        "{channel}: {bytes} in "
        "{time}; a whole drive takes {scale} times as long",
        "{storage}のメンバー{member}でチャネル{channel}のリビルド完了：{bytes}、{time}（全容量では"
        "その{scale}倍）",
    ),
    "timeline.resynced": (
        "member {member} of {storage} has got what was under way to it when power failed: {bytes} "
        "in {time}",
        "{storage}のメンバー{member}の再同期完了（電源断時に転送中だった書き込み）：{bytes}、{time}",
    ),
    "timeline.power_cut": (
        "power cut at {storage}, back at once (no start-up is simulated): {outstanding} commands "
        "under way fail, {torn} of them torn; "
        "{writes} acknowledged writes lost ({bytes})",
        "{storage}の電源断（直後に復帰、起動時間は含まない）："
        "実行中の{outstanding}コマンドが失敗（うち{torn}件は書きかけ）、"
        "応答済みの書き込み{writes}件（{bytes}）を喪失",
    ),
    "timeline.power_cut_carried": (
        "power cut at {storage}, back at once (no start-up is simulated): {outstanding} commands "
        "under way fail, {torn} of them torn; "
        "writing the buffer to the flash needs {flush}, the capacitor holds {hold_up}; {writes} "
        "acknowledged writes lost ({bytes})",
        "{storage}の電源断（直後に復帰、起動時間は含まない）："
        "実行中の{outstanding}コマンドが失敗（うち{torn}件は書きかけ）。"
        "バッファの書き出しに{flush}、キャパシタの保持は{hold_up}。"
        "応答済みの書き込み{writes}件（{bytes}）を喪失",
    ),
    "timeline.failover": (
        "{storage} fails over to its far side: {outstanding} commands under way fail; {writes} "
        "acknowledged writes lost ({bytes})",
        "{storage}が遠隔側へフェイルオーバー：実行中の{outstanding}コマンドが失敗、"
        "応答済みの書き込み{writes}件（{bytes}）を喪失",
    ),
    "timeline.crash": (
        "`{event}`: the server is gone, and answers again {away} later",
        "「{event}」：サーバー停止、{away}後に応答",
    ),
    "timeline.crash_cut_short": (
        "`{event}`: the server is gone, and has not answered when the next event befalls it {away} "
        "later",
        "「{event}」：サーバー停止、応答しないまま{away}後に次のイベント",
    ),
    "timeline.restart": (
        "`{event}`: the server is shut down, and answers again {away} later",
        "「{event}」：サーバーを正常停止、{away}後に応答",
    ),
    "timeline.restart_cut_short": (
        "`{event}`: the server is shut down, and ends as in a crash {away} later",
        "「{event}」：サーバーを正常停止、{away}後に異常終了",
    ),
    "timeline.pool_loaded": (
        "`{event}`: {pages} pages are back in the pool, read in {time}",
        "「{event}」：バッファプールへ{pages}ページを復元、{time}",
    ),
    "timeline.pool_loaded_in_part": (
        "`{event}`: of the pages listed {pages} are back in the pool after {time}, no more come",
        "「{event}」：{time}で{pages}ページを復元し、残りは打ち切り",
    ),
    "mark.crash": ("crash", "クラッシュ"),
    "mark.restart": ("restart", "再起動"),
    "mark.pool_loaded": ("pool loaded", "プール復元完了"),
    "mark.failover": ("failover", "フェイルオーバー"),
    "mark.fail": ("fails", "故障"),
    "mark.replace": ("replaced", "交換"),
    "mark.rebuilt": ("rebuilt", "リビルド完了"),
    "mark.power_cut": ("power cut", "電源断"),
    "mark.hook_begin": ("command", "コマンド"),
    "mark.knee": ("knee", "屈曲点"),
    "mark.highest": ("{rate} under the limit", "上限未満で{rate}"),
    "mark.highest_sure": (
        "{rate} under the limit, {confidence} confidence",
        "上限未満で{rate}、信頼度{confidence}",
    ),
    "mark.limit": ("limit {limit}", "上限 {limit}"),
    "timeline.missed": ("`{event}` did not happen: {why}", "「{event}」は起きなかった：{why}"),
    "timeline.hook_begin": ("the command of `{event}` begins", "「{event}」のコマンド開始"),
    "timeline.hook_end": (
        "the command of `{event}` ends with status {status}",
        "「{event}」のコマンド終了（状態{status}）",
    ),
    # how well a calibrated profile fits
    "fit.title": ("Profile {name}: how well it fits", "プロファイル{name}の適合度"),
    "fit.model": ("Model: {model}, fitted on {basis}.", "モデル: {model}。適合の対象: {basis}。"),
    "fit.answer.fitted": (
        "Cells it was fitted on: {within} of {cells} rates within 10 %, median error {median}, "
        "worst {worst}; {within_p50} of {cells} median latencies within 10 %.",
        "適合に用いたセル: {cells}中{within}のレートが10 %以内、誤差の中央値{median}、"
        "最大{worst}。レイテンシの中央値は{cells}中{within_p50}が10 %以内。",
    ),
    "fit.answer.held_out": (
        "Cells held out: {within} of {cells} rates within 10 %, median error {median}, "
        "worst {worst}; {within_p50} of {cells} median latencies within 10 %.",
        "適合に用いなかったセル: {cells}中{within}のレートが10 %以内、誤差の中央値{median}、"
        "最大{worst}。レイテンシの中央値は{cells}中{within_p50}が10 %以内。",
    ),
    "fit.answer.nearer": (
        "{model} is chosen by its score, although {model_other} comes nearer to the rates (error "
        "{error_other} against {error}): rates and median latencies together, each by how surely "
        "it was measured, are {misfit} off against {misfit_other}, and parameters add {penalty} "
        "against {penalty_other}, which makes {score} against {score_other}.",
        "レートの誤差は{model_other}の方が小さい（{error}に対し{error_other}）が、"
        "スコアにより{model}を選択: レートとレイテンシの中央値を実測の確かさで重み付けした残差は"
        "{misfit_other}に対し{misfit}、パラメーター数による罰則は{penalty_other}に対し{penalty}、"
        "合計は{score_other}に対し{score}。",
    ),
    "fit.answer.unpredicted": (
        "Warning: the profile does not predict what it was not fitted on: {far} of {cells} "
        "held-out rates are off by more than 25 %.",
        "警告: このプロファイルは適合に用いなかった条件を予測できない。"
        "適合に用いなかったセル{cells}中{far}のレートで誤差が25 %を超える。",
    ),
    "fit.answer.not_tried": (
        "Not tried, for {cells} fitted cells cannot tell as many parameters: {models}.",
        "適合に用いたセル{cells}個ではパラメーターを決められず、試さなかったモデル: {models}。",
    ),
    "fit.with_parameters": ("{model} ({parameters})", "{model}（{parameters}個）"),
    "fit.answer.open": (
        "What the measurement leaves open: it tells {known_to_10} of {repeated} held-out rates to "
        "10 % (95 % interval); {within_10_of_interval} of {repeated} are simulated within 10 % of "
        "their interval.",
        "実測の不確かさ: 適合に用いなかったレート{repeated}個のうち、95 %信頼区間が±10 %以内に"
        "収まるものは{known_to_10}個。シミュレーションが信頼区間から10 %以内のものは"
        "{within_10_of_interval}個。",
    ),
    "fit.cells": ("Cell by cell", "セルごとの結果"),
    "fit.cell": ("Cell", "セル"),
    "fit.rate": ("Operations per second", "毎秒の操作数"),
    "fit.p50": ("Median latency", "レイテンシの中央値"),
    "fit.p99": ("p99 latency", "p99レイテンシ"),
    "fit.measured": ("measured", "実測"),
    "fit.simulated": ("simulated", "シミュレーション"),
    "fit.error": ("Error", "誤差"),
    "fit.fitted": ("Fitted", "適合に使用"),
    "fit.held_out": ("Held out", "適合に不使用"),
    "fit.parameters": ("Parameters", "パラメーター"),
    "fit.parameter": ("Parameter", "パラメーター"),
    "fit.value": ("Value", "値"),
    "fit.sure": ("Standard error", "標準誤差"),
    "fit.by_cells": ("Told by the cells?", "セルから判るか"),
    "fit.told": ("yes", "はい"),
    "fit.not_told": ("no", "いいえ"),
    "fit.considered": ("Models considered", "検討したモデル"),
    "fit.kind": ("Model", "モデル"),
    "fit.score": ("Score", "スコア"),
    "fit.note.considered": (
        "Misfit of the fitted cells, in squared standard deviations, and a penalty for each "
        "parameter (BIC): the least is chosen. The error is the root mean square over "
        "fitted cells.",
        "適合に用いたセルの残差（標準偏差の二乗）とパラメーター数による罰則（BIC）。最小のものを選択。"
        "誤差は適合に用いたセルの二乗平均平方根。",
    ),
    "fit.untold": ("What could not be told", "判らなかったこと"),
    "fit.unsure": (
        "{parameter}: the cells leave it open by a quarter or more, or press it against its bound",
        "{parameter}: セルからは四分の一以上の幅でしか決まらないか、限界に達しています",
    ),
    "fit.findings": (
        "Cells whose figures may not be the disk's",
        "ディスク以外が影響した可能性のあるセル",
    ),
    "fit.left_out": ("Left out", "除外したもの"),
    # the slowest operations
    "table.slowest": ("Slowest operations of each stream", "各ストリームで最も遅かった操作"),
    "note.slowest": (
        "Times from the begin of the run, when the completion was seen; offsets and lengths in "
        "bytes. Latency runs from the intended start in open loop.",
        "時刻は実行開始から完了を確認するまで。オフセットと長さはバイト単位。"
        "オープンループのレイテンシは予定された開始時刻から数えます。",
    ),
    "slow.operation": ("Operation", "操作"),
    "slow.latency": ("Latency", "レイテンシ"),
    "slow.phase": ("Phase", "フェーズ"),
    "slow.time": ("Time", "時刻"),
    "slow.offset": ("Offset", "オフセット"),
    "slow.length": ("Length", "長さ"),
    "slow.read": ("read", "読み取り"),
    "slow.write": ("write", "書き込み"),
    "slow.sync": ("sync", "同期"),
    "slow.trim": ("trim", "トリム"),
    # answer: what each line is about, then the sentence, then one item of the sentence's list
    "answer.peak": ("Peak rate", "最大IOPS"),
    "answer.floor": ("Latency at {axis} {level}", "{axis} {level}でのレイテンシ"),
    "answer.in_phase": ("{topic} in “{phase}”", "「{phase}」の{topic}"),
    "answer.left": ("Left out here", "省略した項目"),
    "answer.effect": ("What each change does", "各変更の効果"),
    "answer.dead": ("Out of service", "サービス停止"),
    "answer.limit": ("Load under the limit", "上限内の負荷"),
    "answer.silent": ("Without figures", "数値のないフェーズ"),
    "answer.cut": ("Power loss", "電源断"),
    "answer.retry": ("Read retry", "リードリトライ"),
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
    "sentence.left": (
        "What {count} more would say stands in the report's tables, key figures first.",
        "ほかの{count}項目の内容は、レポートの「主な数値」などの表にある。",
    ),
    "sentence.effect": ("{items}.", "{items}。"),
    "sentence.limit": ("{items}.", "{items}。"),
    "sentence.dead": ("{items}.", "{items}。"),
    "sentence.silent": ("{items}.", "{items}。"),
    "sentence.cut": ("{items}.", "{items}。"),
    "sentence.retry": ("{items}.", "{items}。"),
    "sentence.throughput": ("{items}.", "{items}。"),
    "sentence.commit": ("{items}.", "{items}。"),
    "sentence.company": ("{items}.", "{items}。"),
    "sentence.tail": ("{items}.", "{items}。"),
    # the first item of a list has the verb, the others follow it
    "item.peak_first": ("{name} reaches {value} IOPS{aside}", "IOPSは{name} {value}{aside}"),
    "item.peak": ("{name} {value}{aside}", "{name} {value}{aside}"),
    "item.peak_transactions_first": (
        "{name} reaches {value} transactions a second{aside}",
        "トランザクションは毎秒{name} {value}{aside}",
    ),
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
    "item.throughput_iops_first": (
        "{name} runs at {value} IOPS{aside}",
        "{name} {value} IOPS{aside}",
    ),
    "item.throughput_iops": ("{name} at {value} IOPS{aside}", "{name} {value} IOPS{aside}"),
    "item.throughput_transactions_first": (
        "{name} makes {value} transactions a second{aside}",
        "トランザクションは毎秒{name} {value}{aside}",
    ),
    "item.throughput_time_first": ("{name} takes {value}{aside}", "{name}の時間は{value}{aside}"),
    "item.throughput_time": ("{name} {value}{aside}", "{name} {value}{aside}"),
    "item.throughput_transactions": ("{name} {value}{aside}", "{name} {value}{aside}"),
    "item.dead": (
        "Storage {storage} has failed at {time}, and nothing was served from then on",
        "ストレージ{storage}は{time}に故障し、以後は何も処理されていない",
    ),
    "item.dead_since": (
        "Storage {storage} served nothing from {time} on",
        "ストレージ{storage}は{time}以後、何も処理していない",
    ),
    "item.dead_in": (" ({name})", "（{name}）"),
    "item.dead_more": ("and so did {count} more", "他に{count}件"),
    "item.cut": (
        "writing the buffer of {storage} to the flash takes {time}",
        "{storage}のバッファをフラッシュに書くには{time}かかる",
    ),
    "item.cut_saved": (
        "a capacitor that holds {time} loses nothing that was acknowledged",
        "{time}保つコンデンサーなら、完了を返した書き込みは失われない",
    ),
    "item.cut_lost": (
        "one that holds {time} loses up to {writes} acknowledged writes ({bytes}; {name})",
        "{time}しか保たないと、完了を返した書き込みが最大{writes}件失われる（{bytes}、{name}）",
    ),
    "item.retry": (
        "{name}: flash lasts {life_years_retried} with it and {life_years} without, {ratio}",
        "{name}：フラッシュはリードリトライありで{life_years_retried}、"
        "なしで{life_years}もつ（{ratio}）",
    ),
    "item.retry_alone": (
        "where flash is worn out without it, it lasts {most} ({most_in})",
        "なしでは寿命が尽きたフラッシュは、さらに{most}もつ（{most_in}）",
    ),
    "item.retry_range": (
        "where flash is worn out without it, it lasts from {least} ({least_in}) "
        "to {most} ({most_in})",
        "なしでは寿命が尽きたフラッシュは、さらに{least}（{least_in}）から{most}（{most_in}）もつ",
    ),
    "item.silent_ramped": (
        "in {phase} the ramp used up the amount, and nothing was left to measure",
        "「{phase}」ではランプ期間で総量を使い切り、測定する分が残らなかった",
    ),
    "item.silent": ("in {phase} nothing was completed", "「{phase}」で完了したものはない"),
    "item.silent_failed": (
        "in {phase} all {count} commands failed",
        "「{phase}」では全{count}コマンドが失敗",
    ),
    "item.at_time": ("at {time} {said}", "{time}に{said}"),
    "item.effect": (
        "{axis} {level} makes {ratio} the transactions of {first}{aside}",
        "{axis}を{first}から{level}にするとトランザクションは{ratio}{aside}",
    ),
    "item.effect_operations": (
        "{axis} {level} makes {ratio} the operations of {first}{aside}",
        "{axis}を{first}から{level}にすると操作数は{ratio}{aside}",
    ),
    "item.effect_commits": (
        "{axis} {level} makes {ratio} the commits of {first}{aside}",
        "{axis}を{first}から{level}にするとコミット数は{ratio}{aside}",
    ),
    "item.limit": (
        "{name} bears {rate} requests a second{aside} with {operation} {measure} below {limit}",
        "{name}が{operation}の{measure}を{limit}未満に保てる要求率は毎秒{rate}{aside}まで",
    ),
    "item.limit_always": (
        "{name} bears at least {rate} requests a second with {operation} {measure} below {limit}, "
        "and no rate that was tried surely exceeds that",
        "{name}の{operation}の{measure}は毎秒{rate}でも{limit}未満で、"
        "上限を確実に超える要求率は試した範囲にない",
    ),
    "item.limit_never": (
        "{name} does not bear {rate} requests a second with {operation} {measure} below {limit}, "
        "and no lower rate that was tried surely keeps that",
        "{name}の{operation}の{measure}は毎秒{rate}で{limit}以上となり、"
        "より低い要求率でも確実に未満とはならない",
    ),
    "item.limit_unknown": (
        "no rate that was tried tells how much {name} bears with {operation} {measure} "
        "below {limit}",
        "{name}の{operation}の{measure}を{limit}未満に保てる要求率は、試した範囲では不明",
    ),
    "item.effect_time": (
        "{axis} {level} takes {ratio} the time of {first}{aside}",
        "{axis}を{first}から{level}にすると時間は{ratio}{aside}",
    ),
    "item.effect_one": (
        "{axis} {level} makes {value} transactions a second, {ratio}{aside} the {base} of {first}",
        "{axis} {level}のトランザクションは毎秒{value}、{first}の{base}の{ratio}{aside}",
    ),
    "item.effect_time_one": (
        "{axis} {level} takes {value}, {ratio}{aside} the {base} of {first}",
        "{axis} {level}の時間は{value}、{first}の{base}の{ratio}{aside}",
    ),
    "item.effect_latency": (
        "{axis} {level} takes {ratio} the time of {first} for a read or write{aside}",
        "{axis}を{first}から{level}にすると読み書き1回の時間は{ratio}{aside}",
    ),
    "item.effect_latency_one": (
        "{axis} {level} takes {value} for a read or write, {ratio}{aside} the {base} of {first}",
        "{axis} {level}の読み書き1回の時間は{value}、{first}の{base}の{ratio}{aside}",
    ),
    "item.effect_life": (
        "with {axis} {level} the drive lasts {ratio} the time of {first}{aside}",
        "{axis}を{first}から{level}にするとドライブの寿命は{ratio}{aside}",
    ),
    "item.effect_life_one": (
        "with {axis} {level} the drive lasts {value} years, {ratio}{aside} the {base} of {first}",
        "{axis} {level}でのドライブの寿命は{value}年、{first}の{base}年の{ratio}{aside}",
    ),
    "item.effect_life_one_days": (
        "with {axis} {level} the drive lasts {value} days, {ratio}{aside} the {base} of {first}",
        "{axis} {level}でのドライブの寿命は{value}日、{first}の{base}日の{ratio}{aside}",
    ),
    "item.away": (
        "{name}: the service is away {served} and {recovered}",
        "{name}：{served}、{recovered}",
    ),
    "item.outages": ("of {count} outages{by} the longest is ", "停止{count}件{by}の最長は"),
    "item.outages_by": (" by {event}", "（{event}）"),
    "item.outages_more": (
        " ({count} more by other events, none longer)",
        "（他の出来事による停止{count}件はいずれもこれを超えない）",
    ),
    "item.lost": (
        "{cells} of {all} cells lose acknowledged commits, {name} the most with {count}",
        "{all}セル中{cells}セルで応答済みコミットを喪失、最多は{name}の{count}件",
    ),
    "item.lost_one": (
        "{count} acknowledged commits are lost",
        "応答済みコミットの喪失は{count}件",
    ),
    "away.for": ("for {time}", "サービスの停止は{time}"),
    "away.to_end": ("until the phase ends", "フェーズ終了までサービス停止"),
    "away.recovered": (
        "at nine tenths of its rate after {time}",
        "元のレートの9割に戻るまで{time}",
    ),
    "away.unrecovered": (
        "does not come back to nine tenths of its rate in this phase",
        "このフェーズ内では元のレートの9割に戻らない",
    ),
    "item.effect_range": (
        "{low} to {high}, depending on the rest",
        "他の条件により{low}～{high}",
    ),
    "item.tail_first": ("{name} has a p99 of {value}{aside}", "p99は{name} {value}{aside}"),
    "item.tail": ("{name} {value}{aside}", "{name} {value}{aside}"),
    "item.at": (" at {axis} {level}", "（{axis} {level}）"),
    "item.commit": (
        "a commit takes {mean} on average and {tail} at p99, which makes {rate} commits a second",
        "1回のコミットは平均{mean}、p99で{tail}、毎秒{rate}回",
    ),
    "item.commit_fastest": ("the fastest of {count}, {item}", "{count}件中、最も速いのは{item}"),
    "item.commit_slowest": ("the slowest, {item}", "最も遅いのは{item}"),
    "item.commit_rate": ("{rate} commits a second", "コミットは毎秒{rate}回"),
    "item.company": (
        "{name} p99 goes from {before} in “{first}” to {after} in “{second}”, {ratio}",
        "{name}のp99は、「{first}」の{before}から「{second}」の{after}へ、{ratio}",
    ),
    "item.others": ("the other {count} lie between", "他の{count}件はその間"),
    "item.best": ("{best} at the most, {worst} at the least", "最大で{best}、最小で{worst}"),
    "list.separator": ("; ", "、"),
    "list.end": (".", "。"),
    "list.short": (", ", "、"),
    "answer.none": ("No cell has a result yet.", "まだ結果がありません。"),
    "answer.clause": (" — {world}: {sentence}", " — {world}：{sentence}"),
    "aside.model": ("model {interval}", "モデル{interval}"),
    "note.modelled": (
        "In square brackets: how far the model of the database may be off (90 %).",
        "角括弧内はデータベースのモデルの誤差の範囲（90 %）。",
    ),
    "note.beyond": ("{sign} Outside what was validated.", "{sign}検証済みの範囲外。"),
    "note.one_run": ("one run, no interval", "1回のみ、区間なし"),
    "note.no_interval": ("no interval", "区間なし"),
    "note.of_a_part": (
        "of a drive with a part of its capacity: not what a whole one shows",
        "容量を縮小したドライブの値で、実際の容量での値ではない",
    ),
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
    "table.total": (
        "{phase}: {measure}, reads and writes together",
        "{phase}：{measure}（読み書き合計）",
    ),
    "table.why": (
        "{phase}: mean latency by part, and what limits it",
        "{phase}：平均レイテンシの内訳と律速要因",
    ),
    "note.why": (
        "Means over all operations; the parts add up to the latency.",
        "全操作の平均。内訳の合計はレイテンシに等しい。",
    ),
    "table.endurance": (
        "{phase}: write amplification, spare, and how long the cells last",
        "{phase}：書き込み増幅、予備領域、寿命",
    ),
    "note.endurance": (
        "What is written to the drives holds an array's copies, parity and rebuilds; write"
        " amplification is that of the drives."
        " Spare is a share of the capacity: effective as garbage collection finds it (a dash where"
        " it moved nothing), nominal as built. Cycles are the most of any block. Life is how long"
        " the whole drive's cells last at this rate of programs.",
        "ドライブへの書き込みはアレイの複製・パリティ・再構築の分を含み、書き込み増幅はドライブ内の値。"
        "予備領域は容量に対する割合（実効はガベージコレクションから見た値で、移動がなければ「–」、公称は設計値）。"
        "書き換え回数は最大のブロックの値。寿命はこの書き込み速度を続けた場合のドライブ全体の値。",
    ),
    "table.offers": (
        "What each storage offers, and what that draws",
        "各ストレージの性能と消費電力",
    ),
    "note.offers": (
        "Published figures stand beside ours; of a range both ends. Power of all drives of the "
        "storage together. Where a part of a storage is used, all but its power is of that part.",
        "公表値を併記し、範囲で公表されたものは両端を示します。"
        "電力はストレージの全ドライブの合計です。"
        "ストレージの一部だけを使う場合、電力以外はその部分の値です。",
    ),
    "note.offers.power": (
        "Power of all drives of the storage together. Where a part of a storage is used, all but "
        "its power is of that part.",
        "電力はストレージの全ドライブの合計です。"
        "ストレージの一部だけを使う場合、電力以外はその部分の値です。",
    ),
    "table.power": (
        "{phase}: capacity, mean power of the drives, and what a watt brings",
        "{phase}：容量、ドライブの平均電力と1 Wあたりの性能",
    ),
    "note.power": (
        "Power of all drives of the storage together, idling included; the host's, links' and "
        "controllers' is not in it. Reads, writes and trims count. Functions that share a drive "
        "stand in one row under its name; of one alone, too, the power is the whole drive's.",
        "ストレージの全ドライブの合計電力（待機分を含む）。ホスト、リンク、コントローラの電力は"
        "含まない。読み取り、書き込み、TRIMを数える。1台のドライブを共有するファンクションは"
        "ドライブ名の1行にまとめる。単独のファンクションでも電力はドライブ全体の値。",
    ),
    "note.heat": (
        "Temperature is of the warmest drive, at the ends of the intervals; throttled is the share"
        " of their time that heat held drives back.",
        "温度は最も熱いドライブの区間終了時の値。温度制限は、熱で性能が抑えられた時間の割合。",
    ),
    "note.warming": (
        "Not settled: the drive was still getting warmer, so that a longer phase at this power"
        " shows higher temperatures, and may be throttled where this one was not.",
        "安定前の値。ドライブは温度上昇の途中で、同じ電力でもフェーズが長ければ温度はさらに上がり、"
        "ここではなかった温度制限を受けることもある。",
    ),
    "table.interference": (
        "{world}: latency p99.9 alone, beside one other load, and beside all",
        "{world}：単独、他の1つと同居、すべてと同居でのレイテンシp99.9",
    ),
    "note.interference": (
        "In parentheses: times the latency alone. Intervals stand with the numbers of each phase.",
        "括弧内は単独時との比。区間は各フェーズの数値の表にあります。",
    ),
    "column.disturbed": ("Who", "妨げられる側"),
    "column.alone": ("alone", "単独"),
    "column.beside": ("beside", "同居の相手"),
    "column.together": ("beside all", "すべてと同居"),
    "table.unserved": (
        "Arrivals that were not served before the phase ended",
        "フェーズ終了までに処理されなかった到着",
    ),
    "note.unserved": (
        "They count in no rate and no latency: with them, latencies would be longer.",
        "レートとレイテンシには含まれない。含めればレイテンシはより長い。",
    ),
    "column.arrived": ("Arrived", "到着"),
    "column.unserved": ("Not served", "未処理"),
    "column.unserved_share": ("Share", "割合"),
    "table.verdicts": (
        "Cells by verdict, the worst first",
        "判定別のセル。悪いものから順",
    ),
    "table.method": ("{name}: {said}", "{name}：{said}"),
    "method.compliant": ("followed without a deviation", "逸脱なし"),
    "method.deviates": ("not compliant, for these reasons", "非準拠。理由は以下のとおり"),
    "table.limits": (
        "The highest rate that keeps the latency below its limit, by bisection",
        "レイテンシを上限未満に保つ最大の要求率（二分探索）",
    ),
    "note.limits": (
        "At the lower bound the whole interval of the latency lies below the limit, at the upper "
        "bound the whole of it at or above: the confidence is each bound's. The knee is the rate "
        "at which the curve lies farthest from the line between its ends.",
        "下限ではレイテンシの区間全体が上限値未満に、上限では区間全体が上限値以上にある。信頼度は"
        "それぞれの境界のもの。屈曲点は、曲線が両端を結ぶ直線から最も離れる要求率。",
    ),
    "table.steady": (
        "Rounds judged by the two criteria of the SNIA PTS: range and slope over the window",
        "SNIA PTSの2つの基準（区間内の変動幅と傾き）によるラウンドの判定",
    ),
    "table.published": ("Published figures and ours", "公表値と今回の値"),
    "note.published": (
        "In parentheses: where the published figure is not known, how far ours may be off (90 %);"
        " where it is, what chance leaves open of ours (95 %).",
        "括弧内は、公表値が不明な場合は今回の値の誤差の範囲（90 %）、既知の場合は今回の値の"
        "偶然による幅（95 %）。",
    ),
    "published.most": ("{metric}, the largest of them", "{metric}（その最大値）"),
    "published.ramp_included": ("{metric}, ramp included", "{metric}（立ち上がりを含む）"),
    "published.more_than": ("{metric}, by how much more", "{metric}（比較先との差）"),
    "published.ratio_to": ("{metric}, ratio to another cell", "{metric}（別のセルとの比）"),
    "published.gain_over": ("{metric}, gain over another cell", "{metric}（別のセルからの増加率）"),
    "published.same_up_to": (
        "up to where {metric} is the same whatever the other axis",
        "他の軸によらず{metric}が変わらない上限",
    ),
    "published.apart_from": (
        "from where on {metric} differs by the other axis",
        "他の軸によって{metric}が変わり始める値",
    ),
    "table.published.quick": (
        "Published figures, and ours of a study reduced by --quick: not comparable",
        "公表値と、--quickで縮小したスタディの値：比較不可",
    ),
    "note.published.quick": (
        "The quick part of the study sets other times, drives or states of drives than the "
        "published figures are of: ours neither confirm nor predict them. The whole study does.",
        "スタディのquick部分は、時間やドライブ、その状態が公表値の条件と異なるため、今回の値は"
        "公表値の確認にも予測にもならない。確認と予測はスタディ全体の実行による。",
    ),
    "table.environment": ("Environment: {world}", "環境：{world}"),
    "column.mean": ("Mean latency", "平均レイテンシ"),
    "column.amplification": ("Write amplification", "書き込み増幅"),
    "column.by_host": ("Written by the host in all runs", "ホストの書き込み（全実行の合計）"),
    "column.written": ("Written to the drives in all runs", "ドライブへの書き込み（全実行の合計）"),
    "column.spare.effective": ("Effective spare", "実効予備領域"),
    "column.spare.nominal": ("Nominal spare", "公称予備領域"),
    "column.cycles": ("Cycles", "書き換え回数"),
    "column.life": ("Life", "寿命"),
    "column.life_retried": ("Life with read retry", "リードリトライ込みの寿命"),
    "cell.years": ("{years} years", "{years}年"),
    "cell.days": ("{days} days", "{days}日"),
    "column.capacity": ("Usable capacity", "使用可能容量"),
    "column.power": ("Power", "電力"),
    "column.iops_per_watt": ("IOPS per watt", "1 WあたりIOPS"),
    "column.bandwidth_per_watt": ("Bandwidth per watt", "1 Wあたり帯域"),
    "column.celsius_mean": ("Mean temperature", "平均温度"),
    "column.celsius_max": ("Highest temperature", "最高温度"),
    "column.throttled": ("Throttled", "温度制限"),
    "column.limit": ("Limited by", "律速要因"),
    "column.phase": ("Phase", "フェーズ"),
    "column.quantity": ("Quantity", "項目"),
    "column.ratio": ("{top} ÷ {bottom}", "{top} ÷ {bottom}"),
    "column.world": ("World", "世界"),
    "column.cells": ("Cells", "セル"),
    "column.levels": ("Levels", "水準"),
    "column.runs": ("Runs: complete / partial / failed", "実行：完了 / 一部 / 失敗"),
    "column.verdict": ("Verdict", "判定"),
    "column.reasons": ("Reasons", "理由"),
    "column.load": ("Load", "負荷"),
    "column.maximum": ("Closed-loop maximum", "閉ループの最大"),
    "column.ceiling": ("Limit", "上限"),
    "column.highest": ("Highest rate below it", "上限未満の最大要求率"),
    "column.between": ("Between", "範囲"),
    "column.confidence": ("Confidence", "信頼度"),
    "column.knee": ("Knee", "屈曲点"),
    "column.rates": ("Rates run", "実行した要求率の数"),
    "column.number": ("No.", "番号"),
    "column.deviation": ("Deviation", "逸脱"),
    "column.tracked": ("Tracked", "追跡対象"),
    "column.rounds": ("Rounds", "ラウンド"),
    "column.window_mean": ("Mean of the window", "区間の平均"),
    "column.excursion": ("Range, of allowed", "変動幅／許容"),
    "column.slope_excursion": ("Slope's excursion, of allowed", "傾きによる変動／許容"),
    "column.fit": ("Fitted line, per round", "回帰直線（1ラウンドごと）"),
    "column.correlation": ("Correlation", "相関係数"),
    "column.id": ("Id", "ID"),
    "column.cell": ("Cell", "セル"),
    "column.metric": ("Metric", "指標"),
    "column.published": ("Published", "公表値"),
    "column.ours": ("Ours", "今回の値"),
    "column.ours_to_published": ("Ours ÷ published", "今回 ÷ 公表"),
    "column.key": ("Key", "項目"),
    "column.value": ("Value", "値"),
    "cell.below": ("{measure} < {limit}", "{measure} < {limit}"),
    "cell.between": ("{low}–{high}", "{low}–{high}"),
    "cell.of_allowed": ("{found} of {allowed}", "{found}／{allowed}"),
    "cell.rounds": ("{first}–{last} of {made}", "{made}回中の{first}–{last}"),
    "cell.fit": ("{intercept} + {slope} × n", "{intercept} + {slope} × n"),
    "cell.of": ("of {count}", "（{count}件中）"),
    "cell.at": ("at {axis} {level}", "{axis} {level}"),
    "cell.limit_always": ("at least {rate}", "{rate}以上"),
    "cell.limit_never": ("less than {rate}", "{rate}未満"),
    "cell.none": ("–", "–"),
    "cell.part": ("{part} of {whole}", "{whole}のうち{part}"),
    "cell.within": ("within it", "範囲内"),
    "cell.unknown": ("not known", "不明"),
    "cell.all": ("all {count}", "全{count}件"),
    "cell.some": ("{count} of {total}", "{total}件中{count}件"),
    "row.limit": (
        "{name}: highest rate with {operation} {measure} below {limit}",
        "{name}：{operation}の{measure}を{limit}未満に保つ最大要求率",
    ),
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
    "figure.over_written": ("Over what was written: {name}", "書き込み量に対する変化：{name}"),
    "figure.bars_rate": ("Operations a second", "毎秒の操作数"),
    "figure.bars_bandwidth": ("Bandwidth", "帯域"),
    "figure.bars_p99": ("Latency p99", "レイテンシp99"),
    "figure.bars_mean": ("Mean latency", "平均レイテンシ"),
    "hint.sweep": (
        "Both axes are logarithmic.",
        "両軸とも対数。",
    ),
    "hint.whiskers": ("Whiskers: 95 % intervals.", "ひげは95 %区間。"),
    "hint.latency": (
        "p50 solid, p99 dotted; both axes are logarithmic.",
        "実線はp50、点線はp99。両軸とも対数。",
    ),
    "hint.percentiles": (
        "The first run of each cell. Further right is rarer: each step is one more nine. Both axes "
        "are logarithmic.",
        "各セルの最初の実行。右へ行くほどまれな遅れ。1目盛りごとに9が1つ増える。両軸とも対数。",
    ),
    "hint.some_cells": (
        "Shown: {shown} of {all} cells; the others are left out.",
        "表示は{all}セル中{shown}セルで、他は省略。",
    ),
    "hint.series": (
        "The first run, interval by interval.",
        "最初の実行を区間ごとに表示。",
    ),
    "hint.series_cell": (
        "The first run of the cell named above the plot, of {all} cells, interval by interval.",
        "{all}セルのうちグラフの上に示すセルの最初の実行を区間ごとに表示。",
    ),
    "hint.cells": (
        "Each cell, interval by interval.",
        "各セルを区間ごとに表示。",
    ),
    "hint.series_runs": (
        "Each cell's mean over its runs (at most {runs}), interval by interval; the band spans the "
        "least to the greatest of them.",
        "各セルの全実行（最大{runs}回）の平均を区間ごとに表示。帯は最小から最大まで。",
    ),
    "hint.model": (
        "Broad and pale: how far the model of the database may be off (90 %).",
        "太く淡い部分はデータベースのモデルの誤差の範囲（90 %）。",
    ),
    "figure.modelled": (
        "The cells, and how far the model may be off",
        "各セルの値とモデルの誤差の範囲",
    ),
    "hint.whiskers_modelled": (
        "Whiskers: 95 % intervals of chance within the runs.",
        "ひげは実行内の偶然による95 %区間。",
    ),
    "hint.dots": (
        "Logarithmic axis, so points and not bars.",
        "対数軸のため、棒ではなく点で表示。",
    ),
    "axis.none": ("", ""),
    "axis.name": ("{name}", "{name}"),
    "axis.rate": ("operations / s", "操作数 / 秒"),
    "axis.bandwidth": ("bandwidth", "帯域"),
    "axis.latency": ("latency", "レイテンシ"),
    "axis.p99_of": ("p99 of {name}", "{name}のp99"),
    "axis.percentile": ("percentile", "パーセンタイル"),
    "axis.time": ("time (s)", "時間（秒）"),
    "axis.written": ("written (GB)", "書き込み量（GB）"),
    "axis.number": ("value", "値"),
    "axis.hit_ratio": ("hit ratio", "ヒット率"),
    "axis.bytes": ("bytes", "バイト"),
    # databases
    "table.database": ("Cells of the matrix", "セルごとの主要指標"),
    "note.database": (
        "In parentheses: times the value of the first cell of its phase. Rates are per second; "
        "reads and writes are the server's own and the disk's, where they count them.",
        "括弧内は同じフェーズの最初のセルとの比。レートは毎秒。読み書きはサーバー自身とディスクの計数。"
        "サーバーが数えないものは空欄。",
    ),
    "table.spent": (
        "What limits each cell: where the clients' time goes",
        "各セルの律速要因：クライアントの時間の内訳",
    ),
    "note.spent": (
        "Shares of all the time of the simulated clients. Who waits for page reads, free pages, "
        "the log or room in the log waits for the storage; beside it stands what was busiest "
        "there, else what was busiest of all.",
        "シミュレートしたクライアントの全時間に対する割合。ページの読み出し、空きページ、ログ、"
        "ログの空きを待つ者はストレージを待つ。隣はそのストレージで、それ以外では全体で最も稼働した資源。",
    ),
    "column.spent": ("Share of the clients' time", "クライアントの時間の割合"),
    "column.spent_most": ("Most time goes into", "最も時間を使うもの"),
    "column.busiest": ("Busiest resource", "最も稼働した資源"),
    "spent.share": ("{name}, {share}", "{name}、{share}"),
    "spent.storage": (
        "{resource} of {storage}, {busy} busy",
        "{storage}の{resource}（稼働率{busy}）",
    ),
    "spent.host": ("{resource} of the host, {busy} busy", "ホストの{resource}（稼働率{busy}）"),
    "spent.processor": ("processors", "プロセッサ"),
    "spent.page_reads": ("page reads", "ページの読み出し"),
    "spent.free_pages": ("free pages", "空きページ"),
    "spent.page_latches": ("pages being written", "書き出し中のページ"),
    "spent.pool_mutex": ("the buffer pool's mutex", "バッファプールのミューテックス"),
    "spent.row_locks": ("row locks", "行ロック"),
    "spent.tree_locks": ("index tree locks", "索引木のロック"),
    "spent.log": ("the log", "ログ"),
    "spent.log_space": ("room in the log", "ログの空き"),
    "spent.outage": ("the server not being there", "サーバーの停止"),
    "spent.thinking": (
        "clients that think or wait for work",
        "クライアントの待機（思考・到着待ち）",
    ),
    "table.times": ("Response times by type of transaction", "トランザクション種別の応答時間"),
    "table.checks": (
        "Is the data right? Conditions, ledger, mix, outages and errors",
        "データは正しいか：一貫性条件、台帳、ミックス、停止、エラー",
    ),
    "column.type": ("Type", "種別"),
    "column.found": ("Found", "結果"),
    "check.run": ("Run {number}:", "{number}回目："),
    "check.conditions": (
        "{held} of {all} conditions of consistency hold after the run",
        "実行後に一貫性条件{all}件中{held}件が成立",
    ),
    "check.ledger": (
        "{acknowledged} acknowledged commits, {lost} lost, {twice} there twice, {phantom} "
        "unexplained; {ambiguous} without an answer",
        "応答済みコミット{acknowledged}件、消失{lost}件、重複{twice}件、説明不能{phantom}件、"
        "応答なし{ambiguous}件",
    ),
    "check.ledger_lost": (
        "{acknowledged} acknowledged commits, {lost} lost; {ambiguous} without an answer",
        "応答済みコミット{acknowledged}件、消失{lost}件、応答なし{ambiguous}件",
    ),
    "check.mix": ("the mix is right in {count} points", "ミックスは{count}項目すべて規定内"),
    "check.mix_few": (
        "too few transactions to judge the mix",
        "ミックスを判定するにはトランザクションが少なすぎる",
    ),
    "check.mix_outside": ("the mix is off: {names}", "ミックスが規定外：{names}"),
    "check.outage": (
        "first error at {begin}; first success {success}, nine tenths of the rate before "
        "{recovered}; about {unserved} transactions not served",
        "最初のエラー{begin}、最初の成功まで{success}、以前の90 %まで{recovered}、"
        "処理できなかったトランザクションは約{unserved}件",
    ),
    "check.after": ("after {time}", "{time}"),
    "check.never": ("never in this phase", "このフェーズ内になし"),
    "crash.kill": (
        "`{event}`: server killed (kill -9) at {at}; ",
        "`{event}`：{at}にサーバーを強制終了（kill -9）。",
    ),
    "crash.power_cut": ("`{event}`: power cut at {at}; ", "`{event}`：{at}に電源断。"),
    "crash.failover": (
        "`{event}`: failover to the standby at {at}; ",
        "`{event}`：{at}に待機系へフェイルオーバー。",
    ),
    "crash.back": (
        "the server answered again {away} later, of which it took {recovery} to start",
        "{away}後に応答、うち起動{recovery}",
    ),
    "crash.cut_short": (
        "the server had not answered again when the next event befell it {away} later",
        "応答を再開しないまま、{away}後に次のイベントが発生",
    ),
    "check.restart": (
        "`{event}`: shut down at {at}: {flushed} pages written in {shutdown}; it answered again "
        "{away} after it had begun to go, of which it took {recovery} to start",
        "`{event}`：{at}に正常停止を開始。{shutdown}で{flushed}ページを書き出し、"
        "停止開始から{away}後に応答、うち起動{recovery}",
    ),
    "check.restart_cut_short": (
        "`{event}`: shut down at {at}, and ended as in a crash {away} later; {flushed} pages were "
        "written in {shutdown}",
        "`{event}`：{at}に正常停止を開始し、{away}後に異常終了。{shutdown}で{flushed}ページを書き出し",
    ),
    "check.pool_loaded": (
        "`{event}`: {pages} of the {listed} pages listed were read back by {at}, in {spent}; the "
        "others were there already",
        "`{event}`：{at}までの{spent}で、記録された{listed}ページのうち{pages}ページを読み戻し、"
        "残りはすでにプール内",
    ),
    "check.pool_loaded_in_part": (
        "`{event}`: {pages} of the {listed} pages listed were read back in {spent}, up to {at}; "
        "the others never",
        "`{event}`：{at}までの{spent}で、記録された{listed}ページのうち{pages}ページを読み戻し、"
        "残りは読み戻されず",
    ),
    "crash.recovered": (
        "of it {log} of log and {pages} pages were read",
        "うちログ{log}と{pages}ページを読み込み",
    ),
    "check.whole_exact": (
        "exact mode: all {whole} were simulated",
        "精密モード：{whole}すべてをシミュレーション",
    ),
    "check.whole_fast": (
        "fast mode, which found nothing to leave out: all {whole} were simulated",
        "高速モード（省略できる部分なし）：{whole}すべてをシミュレーション",
    ),
    "check.simulated_part": (
        "fast mode: the first {simulated} of {whole} were simulated; the rest is written as like "
        "the last {like} of them",
        "高速モード：{whole}のうち最初の{simulated}をシミュレーション。残りはその最後の{like}と同じとして記録",
    ),
    "check.simulated_trend": (
        "fast mode: the first {simulated} of {whole} were simulated; the rest is written as like "
        "the last {like} of them, at {pace} of their pace, as it went on changing",
        "高速モード：{whole}のうち最初の{simulated}をシミュレーション。残りはその最後の{like}と同じで、"
        "変化の傾向を延長した{pace}の速さとして記録",
    ),
    "check.errors": ("errors by code: {codes}", "コード別エラー：{codes}"),
    "name.tpcc.new_order": ("New-Order", "New-Order"),
    "name.tpcc.payment": ("Payment", "Payment"),
    "name.tpcc.order_status": ("Order-Status", "Order-Status"),
    "name.tpcc.delivery": ("Delivery", "Delivery"),
    "name.tpcc.stock_level": ("Stock-Level", "Stock-Level"),
    "name.tpcc": ("TPC-C", "TPC-C"),
    # measures
    "measure.statement.rate": ("statements / s (QPS)", "QPS（文 / 秒）"),
    "measure.transaction.rate": ("transactions / s", "トランザクション / 秒"),
    "measure.transaction.tpmc": ("TpmC", "TpmC"),
    "measure.server.hit_ratio": ("buffer pool hit ratio", "バッファプールヒット率"),
    "measure.server.read_rate": ("server: reads / s", "サーバー：読み取り / 秒"),
    "measure.server.write_rate": ("server: writes / s", "サーバー：書き込み / 秒"),
    "measure.disk.read_rate": ("disk: reads / s", "ディスク：読み取り / 秒"),
    "measure.disk.write_rate": ("disk: writes / s", "ディスク：書き込み / 秒"),
    "measure.disk.read_bandwidth": ("disk: bytes read", "ディスク：読み取り帯域"),
    "measure.disk.write_bandwidth": ("disk: bytes written", "ディスク：書き込み帯域"),
    "table.profile": ("Where the time of a statement went", "文の実行時間の内訳"),
    "note.profile": (
        "As the server's own profile tells it (SHOW PROFILE), mean of all statements after the "
        "ramp. Blocks are of 512 bytes, as the kernel counts them for the server's thread. "
        "Simulated: what server and host did while the statements ran.",
        "サーバー自身のプロファイル（SHOW PROFILE）による、ランプ後の全文の平均。"
        "ブロックは512バイトで、カーネルがサーバーのスレッドについて数えたもの。"
        "シミュレーションでは、文の実行中にサーバーとホストが行ったもの。",
    ),
    "column.stage": ("stage", "段階"),
    "profile.ns": ("time", "時間"),
    "profile.cpu_user_ns": ("CPU, user", "CPU（ユーザー）"),
    "profile.cpu_system_ns": ("CPU, kernel", "CPU（カーネル）"),
    "profile.blocks_in": ("blocks in", "読み込みブロック"),
    "profile.major_faults": ("major faults", "メジャーフォールト"),
    "profile.minor_faults": ("minor faults", "マイナーフォールト"),
    "figure.over_time_statements": (
        "{phase}: statements per second (QPS) over time",
        "{phase}：QPS（文 / 秒）の時間変化",
    ),
    "figure.over_time_hit_ratio": (
        "{phase}: buffer pool hit ratio over time",
        "{phase}：バッファプールヒット率の時間変化",
    ),
    "figure.over_time_reads": (
        "{phase}: reads per second over time",
        "{phase}：毎秒の読み取り回数の時間変化",
    ),
    "figure.over_time_writes": (
        "{phase}: writes per second over time",
        "{phase}：毎秒の書き込み回数の時間変化",
    ),
    "figure.over_time_dirty": (
        "{phase}: dirty pages in the buffer pool over time",
        "{phase}：バッファプールのダーティページ量の時間変化",
    ),
    "figure.over_time_checkpoint_age": (
        "{phase}: checkpoint age (log since the last checkpoint) over time",
        "{phase}：チェックポイント経過量（以後のログ量）の時間変化",
    ),
    "measure.iops": ("IOPS", "IOPS"),
    "measure.rate": ("operations / s", "操作数 / 秒"),
    "measure.bandwidth": ("bandwidth", "帯域"),
    "measure.latency.mean": ("mean latency", "平均レイテンシ"),
    "measure.latency.p50": ("latency p50", "レイテンシp50"),
    "measure.latency.p99": ("latency p99", "レイテンシp99"),
    "measure.latency.p999": ("latency p99.9", "レイテンシp99.9"),
    "measure.latency.stddev": ("standard deviation of latency", "レイテンシの標準偏差"),
    "measure.latency.max": ("longest latency", "最大レイテンシ"),
    "stat.latency.p50": ("median", "中央値"),
    "stat.latency.mean": ("mean", "平均"),
    # where the time goes: parts of a latency, resources, and what limits a cell
    "part.queue": ("waiting", "待ち"),
    "part.host": ("host", "ホスト"),
    "part.link": ("link", "リンク"),
    "part.controller": ("controller", "コントローラ"),
    "part.media": ("media", "媒体"),
    "part.gc": ("garbage collection", "ガベージコレクション"),
    "part.rebuild": ("rebuild", "リビルド"),
    "column.part.queue": ("Waiting", "待ち"),
    "column.part.host": ("Host", "ホスト"),
    "column.part.link": ("Link", "リンク"),
    "column.part.controller": ("Controller", "コントローラ"),
    "column.part.media": ("Media", "媒体"),
    "column.part.gc": ("Garbage collection", "ガベージコレクション"),
    "column.part.rebuild": ("Rebuild", "リビルド"),
    "name.part.queue": ("waiting", "待ち"),
    "name.part.host": ("host", "ホスト"),
    "name.part.link": ("link", "リンク"),
    "name.part.controller": ("controller", "コントローラ"),
    "name.part.media": ("media", "媒体"),
    "name.part.gc": ("garbage collection", "ガベージコレクション"),
    "name.part.rebuild": ("rebuild", "リビルド"),
    "resource.media": ("media", "媒体"),
    "resource.channels": ("channels", "チャネル"),
    "resource.controller": ("controller", "コントローラ"),
    "resource.link": ("link", "リンク"),
    "resource.cores": ("processors", "CPU"),
    "resource.lock": ("lock", "ロック"),
    "resource.hypervisor": ("hypervisor", "ハイパーバイザ"),
    "resource.power": ("power", "電力"),
    "resource.threads": ("threads of the jobs", "ジョブのスレッド"),
    "resource.port": ("port", "ポート"),
    "resource.thermal": ("thermal limit", "温度制限"),
    "resource.interrupts": ("interrupts", "割り込み"),
    "resource.allowance": ("limit of the provider", "提供者の制限"),
    "resource.places": ("queue depth of the drive", "ドライブのキュー深度"),
    "resource.flush_turn": ("turn of flushes", "フラッシュの順番"),
    "limit.saturated": (
        "{resource} of {subject}, {busy} busy (of the latency {share} is {part})",
        "{subject}の{resource}（稼働率{busy}、レイテンシの{share}は{part}）",
    ),
    "limit.saturated_places": (
        "queue depth of the drive in {subject}, full {busy} of the time "
        "(of the latency {share} is {part})",
        "{subject}のドライブのキュー深度（時間の{busy}は満杯、レイテンシの{share}は{part}）",
    ),
    "limit.saturated_host": (
        "{resource} of the host, {busy} busy (of the latency {share} is {part})",
        "ホストの{resource}（稼働率{busy}、レイテンシの{share}は{part}）",
    ),
    "limit.waiting": (
        "none is saturated, but requests wait: {share} of the time, at {outstanding} outstanding",
        "飽和はないが要求が待つ（時間の{share}、同時{outstanding}件）",
    ),
    "limit.waiting_on": (
        "none is saturated, but requests wait: {share} of the time, at {outstanding} outstanding; "
        "busiest: {resource} of {subject}, {busy}",
        "飽和はないが要求が待つ（時間の{share}、同時{outstanding}件、最も稼働率が高いのは"
        "{subject}の{resource}で{busy}）",
    ),
    "limit.waiting_on_host": (
        "none is saturated, but requests wait: {share} of the time, at {outstanding} outstanding; "
        "busiest: {resource} of the host, {busy}",
        "飽和はないが要求が待つ（時間の{share}、同時{outstanding}件、最も稼働率が高いのは"
        "ホストの{resource}で{busy}）",
    ),
    "limit.latency": (
        "none: bound by the latency of {part} ({share}) at {outstanding} outstanding",
        "なし：{part}のレイテンシによる（{share}、同時{outstanding}件）",
    ),
    "figure.why": ("{phase}: where the time goes", "{phase}：時間の内訳"),
    "hint.why": (
        "Each bar is the mean latency of a stream, divided into what it was spent on.",
        "棒は各ストリームの平均レイテンシを要因別に分けたもの。",
    ),
    "axis.share": ("share of latency", "レイテンシに占める割合"),
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
    "verdict.share": (
        "Verdict of the study: {verdict} in {bad} of {all} cells",
        "この試験の判定：{all}セル中{bad}セルが{verdict}",
    ),
    # caveats
    "caveat.partial": (
        "Partial: {cell} ({partial} of {runs} runs ended early).",
        "途中終了：{cell}（{runs}回のうち{partial}回）。",
    ),
    "caveat.failed": (
        "Failed: {cell} ({failed} of {runs} runs).",
        "失敗：{cell}（{runs}回のうち{failed}回）。",
    ),
    "caveat.damaged": (
        "Run {run} is damaged and left out: {reason}. `tameshi run` makes it again.",
        "実行{run}は破損しているため除外：{reason}。`tameshi run`で再実行できる。",
    ),
    "caveat.unchecked": (
        "Not sealed: {count} of the runs, recorded without hashes of their files. Damage to "
        "these files would not be noticed.",
        "封印なし：ファイルのハッシュがない実行が{count}回あり、その破損は検出できない。",
    ),
    "caveat.published.list": (
        "The lists of published figures don't have {figures}: nothing is compared.",
        "公表値のリストに{figures}がないため、比較していない。",
    ),
    "caveat.published.value": (
        "No cell shows what this published figure is of: {figures}.",
        "この公表値に対応する結果がどのセルにもない：{figures}。",
    ),
    "published.of": ("{figure} ({metric})", "{figure}（{metric}）"),
    "caveat.empty": ("No result: {cell}.", "結果なし：{cell}。"),
    "caveat.simulated": (
        "What is simulated ({model}) holds for the modelled drive, not for the disk at hand.",
        "シミュレーションの値（{model}）は対象のドライブのもので、手元のディスクのものではありません。",
    ),
    "caveat.emulated": (
        "What is emulated ({model}) is real software on a modelled disk.",
        "エミュレーションの値（{model}）は、モデルのディスク上で本物のソフトウェアを動かして得たものです。",
    ),
    "caveat.fast": (
        "The rest of a phase in fast mode is written and not simulated: rates of statements were"
        " within {most} % of exact mode's in each cell that ran in both"
        " (docs/validation/database-modes.md), reads, writes and single kinds of transactions can"
        " be further off, and the intervals don't hold that.",
        "高速モードの残りの部分はシミュレーションではなく記録です。両モードで実行した各セルで、文の速度の差は"
        "{most} %以内でした（docs/validation/database-modes.md）。"
        "読み書きの量や取引の種類ごとの値の差はそれより大きいことがあり、区間はこの差を含みません。",
    ),
    "caveat.no_interval": (
        "{count} of {total} estimates have no interval: the run gave too little, or was the only"
        " one. Do not read small differences into them.",
        "{total}件中{count}件の推定値には区間がありません（1回のみ、またはデータ不足）。"
        "小さな差を読み取らないでください。",
    ),
    "caveat.extreme": (
        "{count} of {total} estimates are the longest latency of all runs and have no interval:"
        " an extreme is no mean, and the more is measured the longer it gets. Do not read small"
        " differences into them.",
        "{total}件中{count}件の推定値は全実行を通じた最大レイテンシで、区間がありません（最大値は平均ではなく、"
        "測定を増やすほど大きくなります）。小さな差を読み取らないでください。",
    ),
    "caveat.one_run": (
        "{count} intervals come from a single run of a real machine. They say how the figure varied"
        " within that run, not how much the next run may differ.",
        "{count}件の区間は実機での1回の実行から求めたものです。その実行内のばらつきを示すだけで、"
        "次の実行との差は含みません。",
    ),
    "caveat.method": (
        "Intervals are 95 % intervals ({methods}). Ratios not given by the study take theirs from"
        " the two intervals (MOVER, on logarithms).",
        "区間は95 %区間（{methods}）。"
        "試験結果にない比の区間は、2つの区間から対数上のMOVER法で求めました。",
    ),
    "method.log_where_positive": (
        "{method}, on logarithms where all values are above zero",
        "{method}、すべての値が正の場合は対数上",
    ),
    "caveat.latency": (
        "Latency runs from the intended start where arrivals are open-loop, from submission where"
        " the loop is closed.",
        "レイテンシの起点は、開ループでは予定時刻、閉ループでは発行時刻です。",
    ),
    "caveat.scale": (
        "Flash drives ran with a part of their capacity: {scales}. This was tried with one card"
        " (es3000-1.2t) in its steady state, down to 1/{shown}: rates, means and medians stay"
        " within {most} % of the whole card's; p99 and p99.9 of writes that saturate it came out up"
        " to 8 % and 21 % too short (docs/validation/capacity-scale.md). What fills up or changes"
        " with time (a fresh drive, an SLC cache, heat) was not tried and happens sooner than on a"
        " whole drive. Maxima and standard deviations do not scale, are"
        " marked in the tables, and hold for a whole drive only where a study runs it at scale 1"
        " (ready study flash-card-tails).",
        "フラッシュの容量を縮小して実行しました：{scales}。縮小の影響は1種類のカード（es3000-1.2t）の"
        "定常状態で1/{shown}まで検証しており、速度・平均・中央値は全容量の場合から"
        "{most} %以内でした。飽和した書き込みではp99とp99.9が最大8 %・21 %短く出ました"
        "（docs/validation/capacity-scale.md）。"
        "時間とともに変わるもの（未書き込みのドライブ、SLCキャッシュ、発熱）は検証しておらず、"
        "全容量より早く進みます。"
        "最大値と標準偏差は容量に依存するため表に印を付けてあり、実際の容量での値は"
        "スケール1の試験でのみ得られます（付属の研究flash-card-tails）。",
    ),
    "caveat.scale_beyond": (
        "Flash drives ran with a part of their capacity: {scales}. Results were held against a"
        " whole drive's down to 1/{shown} only (docs/validation/capacity-scale.md): how far rates,"
        " means and medians are off beyond that is not known, and tails, maxima and standard"
        " deviations are not those of a whole drive.",
        "フラッシュの容量を縮小して実行しました：{scales}。全容量との比較は1/{shown}までしか"
        "行っていない（docs/validation/capacity-scale.md）ため、速度・平均・中央値の"
        "誤差は不明です。パーセンタイルの裾、最大値、標準偏差も全容量の値ではありません。",
    ),
    "caveat.scale_of": ("1/{scale} ({names})", "1/{scale}（{names}）"),
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
    "name.trim": ("trim", "TRIM"),
    "name.transaction": ("transaction", "トランザクション"),
    "name.log": ("log", "ログ"),
    "name.lookups": ("lookups", "ページ読み出し"),
    "name.flusher": ("flusher", "ページ書き出し"),
    "name.compaction": ("compaction", "コンパクション"),
    "name.compaction_in": ("compaction in", "コンパクション読み出し"),
    "name.compaction_out": ("compaction out", "コンパクション書き込み"),
    "name.backup": ("backup", "バックアップ"),
    "name.all": ("all", "全部"),
    "name.drive": ("drive", "ドライブ"),
    "name.drives": ("drives", "ドライブ数"),
    "name.jobs": ("jobs", "ジョブ数"),
    "name.threads": ("threads", "スレッド数"),
    "name.queue": ("queue", "キュー長"),
    "name.host": ("host", "ホスト"),
    "name.storage": ("storage", "ストレージ"),
    "name.buffer_pool": ("buffer pool", "バッファプール"),
    "name.over_provisioning": ("over-provisioning", "オーバープロビジョニング"),
    "name.phase": ("phase", "フェーズ"),
    "name.test": ("test", "試験"),
    "name.fill": ("fill", "充填"),
    "name.burst": ("burst", "バースト"),
    "name.steady": ("steady", "定常"),
    "name.run": ("run", "実行"),
    "name.scan": ("scan", "スキャン"),
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
    # values and facts of environments and of what was asked for
    "value.yes": ("yes", "はい"),
    "value.no": ("no", "いいえ"),
    "value.disk": ("present", "あり"),
    "value.none": ("none: memory or a network", "なし（メモリまたはネットワーク）"),
    "fact.about": ("{fact}: {subject}", "{fact}：{subject}"),
    "fact.world": ("world", "世界"),
    "fact.work": ("work", "処理内容"),
    "fact.storage_size": ("size of the storage", "ストレージの大きさ"),
    "fact.duration": ("length of the phase", "フェーズの長さ"),
    "fact.history": ("phases before it in the run", "同じ実行内で先行するフェーズ"),
    "fact.study": ("study", "試験"),
    "fact.unknown": ("what was asked for, and what it ran on", "実行内容と実行環境"),
    "fact.model": ("model of the device", "デバイスのモデル"),
    "fact.seed": ("seed", "シード"),
    "fact.interval": ("length of a recorded interval", "記録間隔"),
    "fact.core": ("simulation core", "シミュレーションのコア"),
    "fact.tameshi": ("Tameshi", "Tameshi"),
    "fact.python": ("Python", "Python"),
    "fact.kernel": ("kernel", "カーネル"),
    "fact.architecture": ("architecture", "アーキテクチャ"),
    "fact.cpu_model": ("CPU", "CPU"),
    "fact.cpus": ("logical CPUs", "論理CPU数"),
    "fact.cores": ("cores", "コア数"),
    "fact.memory_bytes": ("memory", "メモリ"),
    "fact.governor": ("CPU frequency governor", "CPU周波数ガバナー"),
    "fact.file_system": ("file system", "ファイルシステム"),
    "fact.mount_options": ("mount options", "マウントオプション"),
    "fact.mount_source": ("mounted from", "マウント元"),
    "fact.mount_point": ("mount point", "マウントポイント"),
    "fact.partition": ("partition", "パーティション"),
    "fact.real_path": ("path", "パス"),
    "fact.device": ("block device", "ブロックデバイス"),
    "fact.device.model": ("device model", "デバイスの型番"),
    "fact.device.firmware": ("firmware", "ファームウェア"),
    "fact.device.size_bytes": ("device size", "デバイスの容量"),
    "fact.device.rotational": ("rotating", "回転式"),
    "fact.device.virtual": ("virtual device", "仮想デバイス"),
    "fact.device.members": ("made of", "構成デバイス"),
    "fact.device.logical_block_bytes": ("logical block", "論理ブロック"),
    "fact.device.physical_block_bytes": ("physical block", "物理ブロック"),
    "fact.device.serial": ("serial number", "シリアル番号"),
    "fact.device.backing_file": ("backing file", "バッキングファイル"),
    "fact.device.name": ("device name", "デバイス名"),
    "fact.device.scheduler": ("I/O scheduler", "I/Oスケジューラ"),
    "fact.device.write_cache": ("write cache", "書き込みキャッシュ"),
    "fact.device.requests": ("queue length (nr_requests)", "キュー長（nr_requests）"),
    "fact.device.nomerges": ("merging off (nomerges)", "結合の抑止（nomerges）"),
    "fact.device.iostats": ("I/O statistics kept (iostats)", "I/O統計（iostats）"),
    "fact.other": ("other", "その他"),
    # comparison
    "compare.title": ("B beside A", "AとBの比較"),
    "compare.side": ("{side}: {path} — {study}", "{side}：{path} — {study}"),
    "compare.verdict": ("{level}: {because}.", "{level}：{because}。"),
    "compare.not_decided": (
        "Nothing is judged: the numbers below stand side by side and prove nothing.",
        "判定は行いません。以下の数値は並べただけで、何も証明しません。",
    ),
    "compare.counts": (
        "B against A, {total} comparisons: {better} better, {same} same, {worse} worse,"
        " {undecided} undecided, {not_judged} not judged.",
        "Aに対するB、比較{total}件：良い{better}、同じ{same}、悪い{worse}、"
        "未決{undecided}、判定せず{not_judged}。",
    ),
    "compare.rule": (
        "Same: the 95 % interval of B ÷ A lies between {low} and {high}. Better, worse: it does"
        " not hold 1. Undecided: neither, or no interval.",
        "「同じ」はB ÷ Aの95 %区間が{low}から{high}に収まること、「良い」「悪い」は区間が1を"
        "含まないこと、「未決」はそのどちらでもないか、区間がないことを示します。",
    ),
    "compare.chance": (
        "{tested} of them have an interval. If nothing differed, about {expected} of those would"
        " leave out 1 by chance alone (1 in 20). {found} are better or worse; {firm} of these stay"
        " so when corrected for the number of comparisons (Holm), the others are marked *.",
        "うち{tested}件に区間があります。差がまったくなくても、約{expected}件は偶然だけで1を外れます"
        "（20件に1件）。「良い」「悪い」は{found}件、比較の数を補正しても（Holm法）残るのは{firm}件で、"
        "残りには*を付けました。",
    ),
    "compare.lone": (
        "{lone} rest on a single run of a real machine. Their intervals do not know how much one"
        " run differs from the next, so none of them counts as certain (*): repeat the runs.",
        "{lone}件は実機での1回の実行によるものです。実行ごとのばらつきを含まない区間のため、"
        "確かとは数えません（*）。実行を繰り返してください。",
    ),
    "compare.equal": ("The same on both sides: {facts}.", "両者で同じもの：{facts}。"),
    "compare.only": (
        "Cells in one alone: {a} in A, {b} in B.",
        "片方だけにあるセル：A {a}件、B {b}件。",
    ),
    "compare.by_subject": ("{facts} ({subject})", "{facts}（{subject}）"),
    "level.comparable": ("Comparable", "比較可能"),
    "level.differences": ("Comparable, with differences", "比較可能（相違あり）"),
    "level.incomparable": ("Incomparable", "比較不可"),
    "because.nothing": (
        "what was asked for and what it ran on are the same",
        "実行内容と実行環境は同じ",
    ),
    "because.asked": (
        "only what was changed on purpose differs ({question})",
        "意図した変更だけが異なる（{question}）",
    ),
    "because.facts": (
        "{facts} may matter",
        "{facts}が影響しうる",
    ),
    "because.broken": ("{facts} differ", "{facts}が異なる"),
    "because.some_cells": (
        "{broken} of {of} cells are not judged, for {facts} differ",
        "{of}セル中{broken}セルは、{facts}が異なるため判定しない",
    ),
    "because.unknown": (
        "a results.json alone does not tell what was asked for and what it ran on; compare the"
        " study folders",
        "results.jsonだけでは実行内容と実行環境がわからない。試験フォルダー同士を比較のこと",
    ),
    "because.no_cells": ("no cell stands in both", "共通のセルがない"),
    "because.no_world": (
        "no world stands in both; --world A:B compares two on purpose",
        "共通の世界がない。異なる世界の比較は--world A:Bで指定",
    ),
    "outcome.better": ("better", "良い"),
    "outcome.same": ("same", "同じ"),
    "outcome.worse": ("worse", "悪い"),
    "outcome.undecided": ("undecided", "未決"),
    "outcome.not_judged": ("not judged", "判定せず"),
    "why.invalid": ("a side is invalid", "無効な側あり"),
    "why.incomparable": ("incomparable", "比較不可"),
    "why.identical": ("identical runs", "同一の実行"),
    "effect.breaks": ("makes them incomparable", "比較できない"),
    "effect.question": ("is the question", "比較の対象"),
    "effect.may": ("may matter", "影響しうる"),
    "effect.none": ("does not matter", "影響なし"),
    "section.differences": ("What differs", "相違点"),
    "section.ratios": ("Cell by cell", "セルごとの比較"),
    "section.changes": ("Greatest changes", "大きな変化"),
    "table.differences": (
        "What differs, the gravest first",
        "相違点。重大なものから順",
    ),
    "table.changes": ("What changed most", "変化の大きいもの"),
    "table.ratios": ("B ÷ A; 95 % intervals in parentheses", "B ÷ A。括弧内は95 %区間"),
    "column.fact": ("What", "項目"),
    "column.effect": ("Effect", "影響"),
    "column.throughput": ("Throughput", "スループット"),
    "column.b_to_a": ("B ÷ A", "B ÷ A"),
    "column.outcome": ("B is", "Bは"),
}

SAID = {
    # what a fit could not be told
    "capacity: the size of the device is unknown; set it with --size": (
        "capacity: デバイスの容量が不明。--sizeで指定可能"
    ),
    # cells that a fit leaves out
    "{key}: below the minimum (found {found}; accepted: {accepted})": (
        "{key}: 値が小さすぎる（指定は{found}、有効なのは{accepted}）"
    ),
    "{key}: unknown kind of load (found {found}; accepted: {accepted})": (
        "{key}: 負荷の種類ではない（指定は{found}、有効なのは{accepted}）"
    ),
    "untrustworthy by Little's law: rate times latency gives {found} outstanding "
    "requests, but the depth is {depth}": (
        "信頼できない値。リトルの法則によればレート×レイテンシで同時に{found}件のはずだが、"
        "要求は{depth}件"
    ),
    "fio reports failure: error {number}, {words}": "fioによれば失敗。エラー{number}（{words}）",
    "no latencies were recorded": "レイテンシの記録なし",
    "it has no reads or writes": "読み取りも書き込みもなし",
    "only {shown} of {clones} clones are reported": "{clones}個の複製のうち{shown}個しか記録がない",
    "{shown} jobs of this name ran concurrently, but numjobs is {clones}": (
        "この名前のジョブが{shown}個同時に動作したが、numjobsは{clones}"
    ),
    "writes should be synced, but fio reports no sync": (
        "書き込みの永続化を求めたが、fioの結果に同期の記録なし"
    ),
    "several streams may have run concurrently: it shares its group with {names}": (
        "複数のストリームが同時に動作した可能性：{names}と同じグループ"
    ),
    "several streams ran concurrently": "複数のストリームが同時に動作",
    "the rate of an open loop is preset": "オープンループのレートは指定されたもの",
    "it used the page cache": "ページキャッシュを経由",
    "the stream pauses": "ストリームに休止あり",
    "no run has it": "どの実行にも現れない",
    "too few operations": "操作が少なすぎる",
}
"""Japanese of what a fit says in English words, with fields in braces."""
