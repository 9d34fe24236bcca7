"""tidy: table. Every string that a report or a comparison can print, in English and Japanese."""

from __future__ import annotations

LANGUAGES = ("en", "ja")

TEXT: dict[str, tuple[str, str]] = {
    # page
    "page.skip": ("Skip to the results", "結果へ移動"),
    "page.to_dark": ("Dark theme", "暗い配色にする"),
    "page.to_light": ("Light theme", "明るい配色にする"),
    "page.no_script": (
        "The plots need JavaScript. The tables below hold the same figures.",
        "グラフの表示にはJavaScriptが必要です。同じ数値は下の表にもあります。",
    ),
    "page.no_plots": (
        "This browser is too old to draw the plots. The tables below hold the same figures.",
        "お使いのブラウザは古いためグラフを表示できません。同じ数値は下の表にもあります。",
    ),
    "page.made_by": (
        "Made by Tameshi. This file is self-contained and makes no network requests.",
        "Tameshiが作成しました。このファイルだけで完結し、ネットワークには一切アクセスしません。",
    ),
    "plot.png": ("Save as PNG", "PNGで保存"),
    "plot.csv": ("Data as CSV", "データをCSVで保存"),
    # sections
    "section.answer": ("Answer", "結論"),
    "section.plots": ("Plots", "グラフ"),
    "section.why": ("Latency breakdown", "レイテンシの内訳"),
    "section.database": ("Database", "データベース"),
    "section.endurance": ("Flash wear", "フラッシュの摩耗"),
    "section.served": ("Served drives", "エミュレーションのドライブ"),
    "section.power": ("Power", "消費電力"),
    "section.interference": ("Interference", "性能干渉"),
    "section.numbers": ("All numbers", "全数値"),
    "section.verdicts": ("Validity", "結果の妥当性"),
    "section.timeline": ("Event timeline", "イベントの経過"),
    "section.unknown": ("Unknown settings", "未公表の設定"),
    "section.limits": ("Sustainable load", "持続可能な負荷"),
    "section.slowest": ("Slowest operations", "最も遅い操作"),
    "section.method": ("Method and deviations", "試験方法と逸脱事項"),
    "section.steady": ("Steady state", "定常状態"),
    "section.published": ("Comparison with published figures", "公表値との比較"),
    "section.environment": ("Environment", "環境"),
    "section.reproduce": ("Steps to reproduce", "再現手順"),
    "section.caveats": ("Caveats", "注意事項"),
    # large studies
    "section.frontier": ("Frontier", "フロンティア"),
    "section.sensitivity": ("Which settings matter", "影響の大きい設定"),
    "section.parallel": ("All settings together", "設定の全体像"),
    "section.data": ("Tables of all cells", "全セルの表"),
    "large.topic": ("{phase}: {load}, {operation}", "{phase}：{load}、{operation}"),
    "large.one": (
        "of {cells} cells, one is best in both figures: {first}.",
        "{cells}セルのうち、両方の値で最良のセルは一つ：{first}。",
    ),
    "large.frontier": (
        "of {cells} cells, {count} are on the frontier, from {first}; to {last}.",
        "{cells}セルのうち{count}セルがフロンティア上にある。一端は{first}、他端は{last}。",
    ),
    "large.gains": ("{items}.", "{items}。"),
    "large.gain": (
        "{setting} {level} yields {ratio} the {measure} of {base}{aside}",
        "{setting}を{base}から{level}にすると{measure}は{ratio}{aside}",
    ),
    "large.gain_range": (
        "median of {pairs} pairs of cells, nine tenths from {low} to {high}",
        "セル{pairs}組の中央値、9割は{low}～{high}",
    ),
    "large.ends_range": (
        "ratio of the medians at both ends, {low} to {high}",
        "両端の中央値の比、{low}～{high}",
    ),
    "large.settings": (
        "Its {measure} depends on {settings}.",
        "{measure}を左右する設定：{settings}。",
    ),
    "large.setting": ("{name} ({share} of its variance)", "{name}（分散の{share}）"),
    "large.runs": (
        "Runs: {complete} complete, {partial} interrupted, {failed} failed.",
        "実行：完了{complete}、中断{partial}、失敗{failed}。",
    ),
    "large.cells": ("Cells: {files}, {rows} rows.", "セル：{files}、{rows}行。"),
    "large.estimates": ("Estimates: {files}, {rows} rows.", "推定値：{files}、{rows}行。"),
    "frontier.on": ("on the frontier", "フロンティア上"),
    "frontier.other": ("other cells", "その他のセル"),
    "frontier.rate": ("{rate}/s", "毎秒{rate}"),
    "frontier.cost": ("cost {cost}", "費用{cost}"),
    "frontier.cost_head": ("cost", "費用"),
    "figure.frontier_rate": (
        "{phase}: rate against latency of {load}, {operation}",
        "{phase}：{load}（{operation}）の処理速度とレイテンシ",
    ),
    "figure.frontier_cost": (
        "{phase}: cost against latency of {load}, {operation}",
        "{phase}：{load}（{operation}）の費用とレイテンシ",
    ),
    "hint.frontier": (
        "{shown} of {all} cells are drawn: the frontier, and one cell per small area of the plot. "
        "No other cell beats one of the frontier in both figures.",
        "{all}セルのうち{shown}セルを表示：フロンティアと、図の小区画ごとに1セル。"
        "フロンティア上のセルを両方の値で上回るセルはない。",
    ),
    "axis.cost": ("cost", "費用"),
    "table.frontier": (
        "Frontier of {load}, {operation} ({phase})",
        "{load}（{operation}）のフロンティア（{phase}）",
    ),
    "note.frontier": (
        "{shown} of {all} cells of the frontier, evenly chosen.",
        "フロンティアの{all}セルから均等に選んだ{shown}セル。",
    ),
    "figure.parallel": (
        "{phase}: settings and figures of {load}, {operation}",
        "{phase}：設定と{load}（{operation}）の値",
    ),
    "hint.parallel": (
        "A line per cell, {shown} of {all}, evenly chosen by latency; below each axis its ends.",
        "1本の線が1セル。レイテンシの順に均等に選んだ{shown}セル（全{all}セル）。"
        "各軸の下に両端の値を示す。",
    ),
    "axis.of_range": ("place between the ends of the axis", "軸の両端の間の位置"),
    "quarter.1": ("fastest quarter", "最も速い4分の1"),
    "quarter.2": ("second quarter", "2番目の4分の1"),
    "quarter.3": ("third quarter", "3番目の4分の1"),
    "quarter.4": ("slowest quarter", "最も遅い4分の1"),
    "figure.main_effects": (
        "{phase}: share of variance by setting",
        "{phase}：設定ごとの分散の割合",
    ),
    "hint.main_effects": (
        "A setting's own share of the variance of a figure's logarithm; what is missing to 100 % "
        "comes from settings together, or from chance.",
        "値の対数の分散のうち、各設定が単独で説明する割合。残りは設定の組み合わせか偶然による。",
    ),
    "axis.variance": ("share of variance", "分散に占める割合"),
    "table.main_effects": ("Effect of each setting ({phase})", "各設定の影響（{phase}）"),
    "note.main_effects": (
        "Intervals: 95 %, bootstrap over cells. Ratio: median at the highest level of the setting "
        "(or its highest tenth) by that at the lowest.",
        "区間は95 %（セルについてのブートストラップ）。比は、設定の最高水準（または上位1割）の"
        "中央値を最低水準の中央値で割った値。",
    ),
    "column.range": ("Range", "範囲"),
    "column.share_of": ("share of variance", "分散の割合"),
    "column.ratio_of": ("highest by lowest", "最高／最低"),
    "cell.levels": ("{count} levels", "{count}水準"),
    "table.reasons": ("Reasons of verdicts", "判定の理由"),
    "note.reasons": (
        "One reason of each kind; its amounts are those of one cell.",
        "種類ごとに一例を示す。数値はそのうち1セルのもの。",
    ),
    # what `tameshi ask` was asked
    "section.asked": ("Question and configurations", "質問と構成"),
    "asked.topic": ("Sufficient configuration", "必要な構成"),
    "asked.confidence": ("Confidence", "予測の信頼性"),
    "asked.sensitivity": ("Sensitivity", "感度"),
    "asked.question": (
        "Which storage and which buffer pool reach {target} on {size} of {workload}?",
        "{size}の{workload}で{target}に達するストレージとバッファプールはどれか？",
    ),
    "asked.target": ("{rate} statements per second", "毎秒{rate}文"),
    "asked.target_limit": (
        "{rate} statements per second with 99 % of every transaction type within {limit}",
        "全トランザクション種別の99 %が{limit}以内で毎秒{rate}文",
    ),
    "asked.cheapest": (
        "The cheapest configuration that reaches {target} is {storage} with a buffer pool of "
        "{pool}, at {cost}: {qps} statements per second, {tail}.",
        "{target}に達する最も安い構成は{storage}とバッファプール{pool}、費用{cost}：毎秒{qps}文、"
        "{tail}。",
    ),
    "asked.smallest": (
        "The smallest configuration that reaches {target} is {storage} with a buffer pool of "
        "{pool}: {qps} statements per second, {tail}.",
        "{target}に達する最小の構成は{storage}とバッファプール{pool}：毎秒{qps}文、{tail}。",
    ),
    "asked.none": (
        "No simulated configuration reaches {target}. The fastest is {storage} with a buffer "
        "pool of {pool}: {qps} statements per second, {tail}.",
        "シミュレーションした構成に{target}に達するものはない。最も速いのは{storage}とバッファ"
        "プール{pool}：毎秒{qps}文、{tail}。",
    ),
    "asked.falls": (
        "With {storage}, a larger pool can miss the target: {meets} reaches it, {misses} does not.",
        "{storage}ではプールを大きくしても目標に届くとは限らない：{meets}は届き、{misses}は届か"
        "ない。",
    ),
    "asked.chance_rate": (
        "The 95 % sampling interval, {rate} statements per second, contains the target.",
        "標本誤差の95 %区間（毎秒{rate}文）は目標値を含む。",
    ),
    "asked.chance_tail": (
        "The 95 % sampling interval of the p99, {tail}, contains the target.",
        "p99の標本誤差の95 %区間（{tail}）は目標値を含む。",
    ),
    "asked.tail": ("p99 of {kind}, the slowest type, {p99}", "最も遅い種別{kind}のp99は{p99}"),
    "asked.tail_alone": ("p99 {p99}", "p99は{p99}"),
    "asked.interrupted": (
        "Interrupted before the first configuration was simulated.",
        "最初の構成のシミュレーション完了前に中断された。",
    ),
    "asked.partly": (
        "Interrupted: some configurations were not simulated.",
        "中断されたため、一部の構成はシミュレーションしていない。",
    ),
    "asked.nothing": (
        "No configuration could be simulated.",
        "どの構成もシミュレーションできなかった。",
    ),
    "asked.model": (
        "With the model error: {qps} statements per second, p99 {p99} (90 %).",
        "モデル誤差を含めると毎秒{qps}文、p99は{p99}（90 %）。",
    ),
    "asked.model_missed": (
        "With the model error: {qps} statements per second, p99 {p99} (90 %). The whole "
        "interval misses the target.",
        "モデル誤差を含めると毎秒{qps}文、p99は{p99}（90 %）。区間全体が目標に届かない。",
    ),
    "asked.model_unsure": (
        "With the model error: {qps} statements per second, p99 {p99} (90 %). The interval "
        "contains the target.",
        "モデル誤差を含めると毎秒{qps}文、p99は{p99}（90 %）。区間は目標値を含む。",
    ),
    "asked.inside": (
        "The question lies inside the validated range ({on}).",
        "質問は検証済みの範囲内にある（{on}）。",
    ),
    "asked.outside": (
        "The question lies outside the validated range ({on}).",
        "質問は検証済みの範囲外にある（{on}）。",
    ),
    "asked.fitted": (
        "The model was fitted to known figures at this point ({there}). Its error is estimated "
        "from other figures ({on}).",
        "この条件ではモデルを既知の値に適合させている（{there}）。誤差は他の既知の値による推定"
        "（{on}）。",
    ),
    "asked.scaled": (
        "Simulated for {time} at 1/{scale} of the size of data, pool, log and drives.",
        "データ、プール、ログ、ドライブをすべて1/{scale}に縮小し、{time}シミュレーションした。",
    ),
    "asked.rounded": (
        "TPC-C data come in whole warehouses: {simulated} were simulated for {size}.",
        "TPC-Cの倉庫数は整数のため、{size}の代わりに{simulated}をシミュレーションした。",
    ),
    "asked.size_rounded": (
        "{size} (simulated: {simulated})",
        "{size}（シミュレーションは{simulated}）",
    ),
    "asked.full": (
        "Simulated for {time} at full size.",
        "実際の容量で{time}シミュレーションした。",
    ),
    "asked.most": (
        "{input} matters most: {at_low} statements per second with {low}, {at_high} with {high}.",
        "影響が最も大きい入力は{input}：{low}なら毎秒{at_low}文、{high}なら{at_high}文。",
    ),
    "asked.most_p99": (
        "{input} matters most: p99 {at_low} with {low}, {at_high} with {high}.",
        "影響が最も大きい入力は{input}：p99は{low}なら{at_low}、{high}なら{at_high}。",
    ),
    "asked.firm": ("No tested value changes the answer.", "試した値のいずれでも結論は変わらない。"),
    "asked.misses": ("With {inputs} it misses the target.", "{inputs}では目標に届かない。"),
    "asked.reaches": ("With {inputs} it reaches the target.", "{inputs}なら目標に届く。"),
    "asked.left": ("Excluded", "除外"),
    "asked.left_one": ("{name}: {reason}", "{name}：{reason}"),
    "asked.left_all": ("{items}.", "{items}。"),
    "asked.left_more": ("{items}; and {count} more.", "{items}、他{count}件。"),
    "asked.yes": ("yes", "はい"),
    "asked.no": ("no", "いいえ"),
    "asked.failed": ("failed", "失敗"),
    "asked.column.level": ("Configuration", "構成"),
    "asked.column.reason": ("Reason", "理由"),
    "asked.column.pool": ("Buffer pool", "バッファプール"),
    "asked.column.meets": ("Reaches the target", "目標に届くか"),
    "asked.column.qps": ("Statements per second", "毎秒の文数"),
    "asked.column.p99": ("p99 of the slowest type", "最も遅い種別のp99"),
    "asked.column.p99_of": ("Slowest type", "最も遅い種別"),
    "asked.column.hit_ratio": ("Hit ratio", "ヒット率"),
    "asked.column.watts": ("Maximum power", "最大消費電力"),
    "asked.column.cost": ("Cost", "費用"),
    "asked.column.value": ("Value", "値"),
    "table.asked": ("Configurations and whether they reach {target}", "各構成が{target}に達するか"),
    "note.asked": (
        "In parentheses: 95 % sampling intervals within the runs.",
        "括弧内は実行内の標本誤差の95 %区間。",
    ),
    "table.unknown": (
        "Settings that were not published, each at its other levels: chief figures against those at"
        " the assumed level, least to greatest of all cells. Model errors and intervals of the"
        " model in this report include them",
        "未公表の設定を仮定以外の水準にした場合の主要値。仮定値に対する倍率の最小と最大（全セル）。"
        "本レポートのモデル誤差はこれを含む",
    ),
    "table.left_out": (
        "Configurations that could not be simulated",
        "シミュレーションできなかった構成",
    ),
    "table.sensitivity": (
        "{storage} with {pool}: other values of the unknown inputs",
        "{storage}と{pool}：未知の入力を変えた場合",
    ),
    "note.inputs": (
        "One input varies at a time. Rows of TPC-C and sysbench have fixed sizes, so a larger "
        "row size scales the data set.",
        "一度に一つの入力だけを変える。TPC-Cとsysbenchの行サイズは固定のため、行サイズの代わり"
        "にデータ量を増減する。",
    ),
    "table.assumed": ("Assumptions", "前提条件"),
    "assumed.database": ("Data set", "データ量"),
    "assumed.workload": ("Workload", "ワークロード"),
    "assumed.clients": ("Clients", "クライアント"),
    "assumed.engine": ("Server", "サーバー"),
    "assumed.host": ("Host", "ホスト"),
    "assumed.redo_log": ("Redo log", "REDOログ"),
    "assumed.start": ("Start", "開始状態"),
    "assumed.scale": ("Simulated scale", "シミュレーションの縮尺"),
    "assumed.ramp": ("Ramp", "ランプ"),
    "assumed.time": ("Measurement time", "測定時間"),
    "name.input.redo_log": ("redo log", "REDOログ"),
    "name.input.clients": ("clients", "クライアント数"),
    "name.input.row_size": ("row size", "行サイズ"),
    "name.input_low": ("lowest value", "最小値"),
    "name.input_high": ("highest value", "最大値"),
    "mark.answer": ("answer", "結論"),
    "mark.target": ("target", "目標"),
    "axis.statements": ("statements / s", "文 / 秒"),
    "axis.slowest": ("p99 of the slowest type", "最も遅い種別のp99"),
    "figure.sensitivity": (
        "Sensitivity to unknown inputs: {storage} with {pool}",
        "未知の入力に対する感度（{storage}、{pool}）",
    ),
    "hint.sensitivity": (
        "Each bar runs from the answer to the result with another value of the input.",
        "棒は結論の値から、入力を変えたときの値までの変化。",
    ),
    # how far the model of a database may be off
    "table.model": (
        "Basis of the model intervals: statements per second",
        "モデル誤差の区間の根拠（毎秒の文数）",
    ),
    "note.model": (
        "The intervals combine the errors of comparable known figures with the uncertainty of "
        "the parameters. They exclude sampling error. Errors of known cells vary, so a ratio "
        "is as uncertain as the more uncertain of its two figures.",
        "区間は比較可能な既知の値の誤差とパラメーターの不確かさによる。標本誤差は含まない。既知"
        "のセルの誤差は一様でないため、比の誤差は両者のうち大きい方に等しいとする。",
    ),
    "table.model_store": (
        "Basis of the model intervals: document store",
        "ドキュメントストアのモデル誤差の根拠",
    ),
    "note.model_store": (
        "The model of a document store is a journal and a merge tree. Without a comparable "
        "known figure, its interval is a judgement of the parameters' uncertainty, not a "
        "validation.",
        "ドキュメントストアはジャーナルとマージツリーとしてモデル化している。比較可能な既知の値"
        "がない場合、区間はパラメーターの不確かさの見積もりであり、検証結果ではない。",
    ),
    "modelled.figure": ("Figure", "値"),
    "modelled.cell": ("Cell", "セル"),
    "modelled.inside": ("Inside the validated range", "検証済みの範囲内か"),
    "modelled.fitted": ("yes: fitted ({names})", "はい：適合に使用（{names}）"),
    "modelled.nothing": ("no comparable figure known", "比較対象なし"),
    "modelled.none": ("not validated", "未検証"),
    "modelled.on": ("validated on {names}", "検証の対象：{names}"),
    "check.model": (
        "{finding}; model error (90 %): {times}; {on}",
        "{finding}。モデル誤差（90 %）：{times}；{on}",
    ),
    "time.away_ns": ("outage {span}", "停止{span}"),
    "time.recovery_ns": ("startup {span}", "起動{span}"),
    "time.shutdown_ns": ("shutdown {span}", "停止処理{span}"),
    "time.for_ns": ("pool load {span}", "読み戻し{span}"),
    "time.first_success_ns": ("to first success {span}", "最初の成功まで{span}"),
    "time.recovered_ns": ("to 90 % of the rate {span}", "以前の90 %まで{span}"),
    "modelled.validated_on": ("Validated on", "検証の対象"),
    # events and the service between them
    "table.timeline": (
        "Phase {phase}: events and service after each",
        "フェーズ「{phase}」のイベントとその後の性能",
    ),
    "note.timeline": (
        "Times run from the start of the phase, in the first run. Rates and means cover the "
        "recorded intervals that lie entirely between two events; a shorter stretch has none. "
        "If an event splits an interval, its failed commands count after the first fault in "
        "it, or after the previous event if it holds no fault.",
        "時刻は最初の実行のフェーズ開始から。レートと平均は、2つのイベントの間に完全に収まる記"
        "録区間の値で、区間より短い間には値がない。イベントが記録区間を分ける場合、失敗したコマ"
        "ンドはその区間の最初の障害以降に、障害がなければ直前のイベント以降に数える。",
    ),
    "timeline.time": ("Time", "時刻"),
    "timeline.happened": ("Event at the start", "開始時のイベント"),
    "timeline.rate": ("Operations per second", "毎秒の操作数"),
    "timeline.mean": ("Mean latency", "平均レイテンシ"),
    "timeline.failed": ("Failed commands", "失敗したコマンド"),
    "timeline.rebuild": ("Rebuild writes", "リビルドの書き込み"),
    "timeline.fail": ("member {member} of {storage} fails", "{storage}のメンバー{member}が故障"),
    "timeline.lost_with_it": (
        "{event}; {writes} acknowledged writes ({bytes}) not yet replicated are lost",
        "{event}、複製未完了の応答済み書き込み{writes}件（{bytes}）を喪失",
    ),
    "timeline.fail_all": ("all of {storage} fails", "{storage}全体が故障"),
    "timeline.fail_channel": (
        "channel {channel} of member {member} of {storage} fails; its rebuild begins",
        "{storage}のメンバー{member}のチャネル{channel}が故障、リビルド開始",
    ),
    "timeline.fail_last_channel": (
        "channel {channel} of member {member} of {storage} fails, and the drive with it",
        "{storage}のメンバー{member}のチャネル{channel}が故障し、ドライブも故障",
    ),
    "timeline.replace": (
        "member {member} of {storage} is replaced; its rebuild begins",
        "{storage}のメンバー{member}を交換、リビルド開始",
    ),
    "timeline.rebuilt": (
        "rebuild of member {member} of {storage} completes: {bytes} in {time}",
        "{storage}のメンバー{member}のリビルド完了：{bytes}、{time}",
    ),
    "timeline.rebuilt_scaled": (
        "rebuild of member {member} of {storage} completes: {bytes} in {time} (a whole drive "
        "takes {scale} times as long)",
        "{storage}のメンバー{member}のリビルド完了：{bytes}、{time}（実容量ではその{scale}倍）",
    ),
    "timeline.rebuilt_channel": (
        "rebuild across channel {channel} of member {member} of {storage} completes: {bytes}"
        " left by garbage collection moved in {time}",
        "{storage}のメンバー{member}でチャネル{channel}のリビルド完了：{bytes}、{time}",
    ),
    "timeline.rebuilt_channel_scaled": (
        "rebuild across channel {channel} of member {member} of {storage} completes: {bytes}"
        " left by garbage collection moved in {time} (a whole drive takes {scale} times as "
        "long)",
        "{storage}のメンバー{member}でチャネル{channel}のリビルド完了：{bytes}、{time}（実容量"
        "ではその{scale}倍）",
    ),
    "timeline.resynced": (
        "resync of member {member} of {storage} completes: {bytes} of writes in flight at the "
        "power cut, in {time}",
        "{storage}のメンバー{member}の再同期完了（電源断時に転送中だった書き込み）：{bytes}、"
        "{time}",
    ),
    "timeline.power_cut": (
        "power cut at {storage}, restored at once (startup not simulated): {outstanding}"
        " in-flight commands fail, {torn} of them torn; {writes} acknowledged writes lost ("
        "{bytes})",
        "{storage}の電源断（直後に復旧、起動時間は含まない）：処理中の{outstanding}コマンドが失"
        "敗（うち{torn}件は部分書き込み）、応答済みの書き込み{writes}件（{bytes}）を喪失",
    ),
    "timeline.power_cut_carried": (
        "power cut at {storage}, restored at once (startup not simulated): {outstanding}"
        " in-flight commands fail, {torn} of them torn; flushing the buffer takes {flush}, the "
        "capacitor holds {hold_up}; {writes} acknowledged writes lost ({bytes})",
        "{storage}の電源断（直後に復旧、起動時間は含まない）：処理中の{outstanding}コマンドが失"
        "敗（うち{torn}件は部分書き込み）。バッファの書き出しに{flush}、キャパシタの保持時間は"
        "{hold_up}。応答済みの書き込み{writes}件（{bytes}）を喪失",
    ),
    "timeline.failover": (
        "{storage} fails over to its remote side: {outstanding} in-flight commands fail; "
        "{writes} acknowledged writes lost ({bytes})",
        "{storage}が遠隔側へフェイルオーバー：処理中の{outstanding}コマンドが失敗、応答済みの書"
        "き込み{writes}件（{bytes}）を喪失",
    ),
    "timeline.crash": (
        "`{event}`: the server crashes and answers again after {away}",
        "「{event}」：サーバーがクラッシュ、{away}後に応答再開",
    ),
    "timeline.crash_cut_short": (
        "`{event}`: the server crashes; the next event follows after {away}, before it answers",
        "「{event}」：サーバーがクラッシュ、応答再開前の{away}後に次のイベント",
    ),
    "timeline.restart": (
        "`{event}`: the server shuts down and answers again after {away}",
        "「{event}」：サーバーを正常停止、{away}後に応答再開",
    ),
    "timeline.restart_cut_short": (
        "`{event}`: the server shuts down and crashes after {away}",
        "「{event}」：サーバーを正常停止、{away}後に異常終了",
    ),
    "timeline.pool_loaded": (
        "`{event}`: {pages} pages reloaded into the buffer pool in {time}",
        "「{event}」：バッファプールへ{pages}ページを復元、{time}",
    ),
    "timeline.pool_loaded_in_part": (
        "`{event}`: {pages} listed pages reloaded into the buffer pool in {time}, the rest skipped",
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
    "timeline.missed": ("`{event}` did not happen: {why}", "「{event}」は実行されなかった：{why}"),
    "timeline.hook_begin": ("the command of `{event}` starts", "「{event}」のコマンド開始"),
    "timeline.hook_end": (
        "the command of `{event}` exits with status {status}",
        "「{event}」のコマンド終了（状態{status}）",
    ),
    # sets of failover trials
    "failovers.title.set": ("Failovers", "フェイルオーバー"),
    "failovers.title.failover-ways": ("Ways to be available", "可用性を得る方式"),
    "failovers.question.set": (
        "How long is the service away after each event, what is lost, and what does it cost?",
        "各イベントの後、サービスはどれだけ止まり、何が失われ、そのための代償はどれだけか",
    ),
    "failovers.question.failover-ways": (
        "What does each way to be available cost, how long is the service away, and what is lost?",
        "可用性を得る各方式の代償はどれだけで、サービスはどれだけ止まり、何が失われるか",
    ),
    "failovers.none": (
        "None of {planned} trials has ended yet.",
        "{planned}回の試行のうち、終わったものはまだない。",
    ),
    "failovers.held": (
        "None of {acknowledged} acknowledged commits that a way promises to keep was lost "
        "(failovers: {trials}), and the service was back {back}.",
        "{trials}回のフェイルオーバーで、方式が保持を約束する応答済みコミット{acknowledged}件は一つも"
        "失われず、サービスは{back}に復帰した。",
    ),
    "failovers.kept": (
        "None of {acknowledged} acknowledged commits that a way promises to keep was lost.",
        "方式が保持を約束する応答済みコミット{acknowledged}件は一つも失われなかった。",
    ),
    "failovers.slowed": (
        "With its link slowed, {way} made {slow} commits per second, and {after} afterwards.",
        "リンクが遅い間、{way}のコミットは毎秒{slow}件、その後は毎秒{after}件だった。",
    ),
    "failovers.back_of": (
        "The service was back {back} (failovers: {trials}).",
        "{trials}回のフェイルオーバーで、サービスは{back}に復帰した。",
    ),
    "failovers.back": (
        "{low} to {high} after the event (medians by way and event)",
        "イベントから{low}〜{high}後（方式とイベントごとの中央値）",
    ),
    "failovers.back_one": ("{low} after the event", "イベントから{low}後"),
    "failovers.broken": (
        "{way} broke its promise by {event}: {lost} acknowledged commits lost, {unexplained} there "
        "twice or unexplained, at most in one trial.",
        "{way}は{event}で約束を破った：1回の試行で最大、応答済みコミット{lost}件が失われ、"
        "{unexplained}件が重複または由来不明。",
    ),
    "failovers.ratios": (
        "With a standby the service makes, of the commits per second of a server alone: {ratios}.",
        "待機系を置くと、毎秒のコミット数は単体のサーバーに対して次のとおり：{ratios}。",
    ),
    "failovers.ratio": ("{way} {ratio}", "{way} {ratio}"),
    "failovers.ratio_on": ("{way} on {drive} {ratio}", "{way}（{drive}） {ratio}"),
    "failovers.lost": (
        "{way}, which promises nothing, lost acknowledged commits: at most {lost} in a trial (by "
        "{event}).",
        "保持を約束しない{way}では、応答済みコミットが最大{lost}件失われた（{event}）。",
    ),
    "failovers.incomplete": (
        "{made} of {planned} trials have ended; the same command continues.",
        "{planned}回の試行のうち{made}回が終了。同じコマンドで続行できる。",
    ),
    "failovers.figure.away": (
        "Time from the event until the service was back",
        "イベントからサービスの復帰までの時間",
    ),
    "failovers.figure.rate": (
        "Commits per second before the event",
        "イベント前の毎秒のコミット数",
    ),
    "failovers.hint.spread": (
        "Median of the trials; whiskers from the least to the most.",
        "試行の中央値。ひげは最小から最大。",
    ),
    "failovers.table.services": ("Service before the event", "イベント前のサービス"),
    "failovers.table.events": ("Events", "イベント"),
    "failovers.table.warm_up": ("Warm-up of the buffer pool", "バッファプールの暖機"),
    "failovers.table.takeover": ("Steps of a takeover", "切り替えの手順"),
    "failovers.table.restart": ("Steps of a restart", "再起動の手順"),
    "failovers.note.spread": (
        "Median of the trials, with the least and the most.",
        "試行の中央値（最小–最大）。",
    ),
    "failovers.failures": ("Failed trials", "失敗した試行"),
    "failovers.settings": ("Settings", "設定"),
    "failovers.way": ("Way", "方式"),
    "failovers.on": ("drive {drive}", "ドライブ{drive}"),
    "failovers.rate": ("Commits per second", "毎秒のコミット数"),
    "failovers.against_single": ("Against a server alone", "単体との比"),
    "failovers.latency": ("Latency of a transaction", "トランザクションのレイテンシ"),
    "failovers.p50": ("median", "中央値"),
    "failovers.p99": ("p99", "p99"),
    "failovers.lag": ("Lag of the standby", "待機系の遅れ"),
    "failovers.per_commit": ("Per commit", "コミットあたり"),
    "failovers.link": ("over the link", "リンクの転送量"),
    "failovers.primary_cpu": ("processors of the primary", "主系のプロセッサー"),
    "failovers.standby_cpu": ("of the standby", "待機系のプロセッサー"),
    "failovers.time": ("Time", "時間"),
    "failovers.away": ("Event to first commit", "イベントから最初のコミットまで"),
    "failovers.outage": ("first error to first commit", "最初のエラーから最初のコミットまで"),
    "failovers.recovered": ("to nine tenths of the rate", "9割のレートまで"),
    "failovers.commits": ("Commits", "コミット"),
    "failovers.acknowledged": ("acknowledged", "応答済み"),
    "failovers.most_lost": ("most lost", "損失の最大"),
    "failovers.unexplained": ("most unexplained", "由来不明の最大"),
    "failovers.return": ("Return of the failed side", "障害側の復帰"),
    "failovers.returned_by": ("by", "手段"),
    "failovers.return_time": ("time", "時間"),
    "failovers.return_bytes": ("over the link", "リンクの転送量"),
    "failovers.hits": ("Hits of the buffer pool", "バッファプールのヒット率"),
    "failovers.reads": ("Reads from the drive per commit", "コミットあたりのドライブの読み取り"),
    "failovers.before": ("before", "イベント前"),
    "failovers.first": ("first second", "最初の1秒"),
    "failovers.last": ("last second", "最後の1秒"),
    "failovers.last_at": ("End of the last second", "最後の1秒の終わり"),
    "failovers.step.fence": ("fence", "フェンシング"),
    "failovers.step.catch_up": ("catch up", "追いつき"),
    "failovers.step.promotion": ("promotion", "昇格"),
    "failovers.step.repointing": ("repointing", "接続先の切り替え"),
    "failovers.step.mount": ("mount of the drive", "ドライブのマウント"),
    "failovers.step.recovery": ("start and recovery", "起動とリカバリー"),
    "failovers.step.failover": ("all", "合計"),
    # how well a calibrated profile fits
    "fit.title": ("Profile {name}: goodness of fit", "プロファイル{name}の適合度"),
    "fit.model": ("Model: {model}, fitted to {basis}.", "モデル: {model}。適合の対象: {basis}。"),
    "fit.answer.fitted": (
        "Fitted cells: {within} of {cells} rates within 10 %, median error {median}, maximum "
        "{worst}; {within_p50} of {cells} median latencies within 10 %.",
        "適合に用いたセル: {cells}中{within}のレートが10 %以内、誤差の中央値{median}、最大"
        "{worst}。レイテンシの中央値は{cells}中{within_p50}が10 %以内。",
    ),
    "fit.answer.held_out": (
        "Held-out cells: {within} of {cells} rates within 10 %, median error {median}, maximum "
        "{worst}; {within_p50} of {cells} median latencies within 10 %.",
        "適合に用いなかったセル: {cells}中{within}のレートが10 %以内、誤差の中央値{median}、最"
        "大{worst}。レイテンシの中央値は{cells}中{within_p50}が10 %以内。",
    ),
    "fit.answer.nearer": (
        "{model} has the best score, although {model_other} fits the rates better (error "
        "{error_other}, not {error}). Residual of rates and median latencies, weighted by "
        "precision: {misfit} ({model_other}: {misfit_other}); penalty for parameters: {penalty}"
        " ({penalty_other}); score: {score} ({score_other}).",
        "レートの誤差は{model_other}の方が小さい（{error}に対し{error_other}）が、スコアにより"
        "{model}を選択: レートとレイテンシの中央値を測定精度で重み付けした残差は{misfit_other}"
        "に対し{misfit}、パラメーター数による罰則は{penalty_other}に対し{penalty}、合計は"
        "{score_other}に対し{score}。",
    ),
    "fit.answer.unpredicted": (
        "Warning: the profile does not predict cells outside the fit: {far} of {cells}"
        " held-out rates are off by more than 25 %.",
        "警告: このプロファイルは適合に用いなかった条件を予測できない。適合に用いなかったセル"
        "{cells}中{far}のレートで誤差が25 %を超える。",
    ),
    "fit.answer.not_tried": (
        "Not tried, because {cells} fitted cells cannot determine as many parameters: {models}.",
        "適合に用いた{cells}セルではパラメーターを決定できないため、試さなかったモデル: {models}。",
    ),
    "fit.with_parameters": ("{model} ({parameters})", "{model}（{parameters}個）"),
    "fit.answer.open": (
        "Measurement uncertainty: {known_to_10} of {repeated} held-out rates are known to 10 % "
        "(95 % interval); {within_10_of_interval} of {repeated} are simulated within 10 % of "
        "their interval.",
        "実測の不確かさ: 適合に用いなかったレート{repeated}個のうち、95 %信頼区間が±10 %以内に"
        "収まるものは{known_to_10}個。シミュレーションが信頼区間から10 %以内のものは"
        "{within_10_of_interval}個。",
    ),
    "fit.cells": ("Results by cell", "セルごとの結果"),
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
    "fit.by_cells": ("Determined by the cells", "セルから決定できたか"),
    "fit.determined": ("yes", "はい"),
    "fit.not_determined": ("no", "いいえ"),
    "fit.considered": ("Models considered", "検討したモデル"),
    "fit.kind": ("Model", "モデル"),
    "fit.score": ("Score", "スコア"),
    "fit.note.considered": (
        "Score: squared standardised residuals of the fitted cells plus a penalty per "
        "parameter (BIC). The lowest score wins. Error: root mean square over the fitted cells.",
        "スコアは適合に用いたセルの残差（標準偏差で正規化した二乗和）とパラメーター数による罰則"
        "の和（BIC）。最小のものを選択。誤差は適合に用いたセルの二乗平均平方根。",
    ),
    "fit.undetermined": ("Undetermined", "決定できなかったもの"),
    "fit.unsure": (
        "{parameter}: the cells leave an uncertainty of 25 % or more, or the value is at its bound",
        "{parameter}: セルから決まる値の不確かさが25 %以上、または値が限界に到達",
    ),
    "fit.findings": (
        "Cells that something other than the disk may have limited",
        "ディスク以外が律速した可能性のあるセル",
    ),
    "fit.left_out": ("Excluded", "除外したもの"),
    # the slowest operations
    "table.slowest": ("Slowest operations per stream", "ストリームごとの最も遅い操作"),
    "note.slowest": (
        "Times of completion, from the start of the run; offsets and lengths in bytes. In open "
        "loop, latency runs from the intended start.",
        "時刻は実行開始から完了まで。オフセットと長さはバイト単位。オープンループのレイテンシの"
        "起点は予定された開始時刻。",
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
    "answer.left": ("Not shown here", "省略した項目"),
    "answer.effect": ("Effect of each change", "各変更の効果"),
    "answer.power_cuts": ("Power cuts", "電源断"),
    "answer.failovers": ("Failovers", "フェイルオーバー"),
    "answer.failures": ("Out of service", "サービス停止"),
    "answer.limit": ("Sustainable load", "持続可能な負荷"),
    "answer.unknown": ("Unknown settings", "未公表の設定"),
    "answer.empty": ("No figures", "数値のないフェーズ"),
    "answer.cut": ("Power loss", "電源断"),
    "answer.retry": ("Read retry", "リードリトライ"),
    "answer.throughput": ("Throughput", "スループット"),
    "answer.commit": ("Commits", "コミット"),
    "answer.interference": ("Interference", "性能干渉"),
    "answer.tail": ("Tail latency", "テールレイテンシ"),
    "sentence.peak": ("{items}.", "{items}。"),
    "sentence.peak_same": (
        "{items}, each at {axis} {level}.",
        "{items}（いずれも{axis} {level}）。",
    ),
    "sentence.floor": ("{items}.", "{items}。"),
    "sentence.left": (
        "See the report's tables, key figures first, for {count} more findings.",
        "ほかの{count}項目は、レポートの「主な数値」などの表を参照。",
    ),
    "sentence.effect": ("{items}.", "{items}。"),
    "sentence.limit": ("{items}.", "{items}。"),
    "sentence.power_cuts": ("{items}.", "{items}。"),
    "sentence.failovers": ("{items}.", "{items}。"),
    "sentence.failures": ("{items}.", "{items}。"),
    "sentence.unknown": ("{items}.", "{items}。"),
    "sentence.empty": ("{items}.", "{items}。"),
    "sentence.cut": ("{items}.", "{items}。"),
    "sentence.retry": ("{items}.", "{items}。"),
    "sentence.throughput": ("{items}.", "{items}。"),
    "sentence.commit": ("{items}.", "{items}。"),
    "sentence.interference": ("{items}.", "{items}。"),
    "sentence.tail": ("{items}.", "{items}。"),
    # the first item of a list has the verb, the others follow it
    "item.peak_first": ("{name} reaches {value} IOPS{aside}", "IOPSは{name} {value}{aside}"),
    "item.peak": ("{name} {value}{aside}", "{name} {value}{aside}"),
    "item.peak_transactions_first": (
        "{name} reaches {value} transactions per second{aside}",
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
    "item.throughput_first": ("{name}: {value}{aside}", "{name} {value}{aside}"),
    "item.throughput": ("{name}: {value}{aside}", "{name} {value}{aside}"),
    "item.throughput_iops_first": ("{name}: {value} IOPS{aside}", "{name} {value} IOPS{aside}"),
    "item.throughput_iops": ("{name}: {value} IOPS{aside}", "{name} {value} IOPS{aside}"),
    "item.throughput_transactions_first": (
        "{name}: {value} transactions per second{aside}",
        "トランザクションは毎秒{name} {value}{aside}",
    ),
    "item.throughput_time_first": ("{name} takes {value}{aside}", "{name}の時間は{value}{aside}"),
    "item.throughput_time": ("{name} {value}{aside}", "{name} {value}{aside}"),
    "item.throughput_transactions": ("{name} {value}{aside}", "{name} {value}{aside}"),
    "item.failed": (
        "Storage {storage} failed at {time} and served nothing after that",
        "ストレージ{storage}は{time}に故障し、以後は要求を処理していない",
    ),
    "item.stopped": (
        "Storage {storage} served nothing after {time}",
        "ストレージ{storage}は{time}以後、要求を処理していない",
    ),
    "item.failed_in": (" ({name})", "（{name}）"),
    "item.failed_more": ("{count} more failures", "他に{count}件"),
    "item.cut": (
        "flushing the buffer of {storage} to flash takes {time}",
        "{storage}のバッファをフラッシュに書き出す時間は{time}",
    ),
    "item.cut_saved": (
        "a capacitor that holds {time} loses no acknowledged write",
        "保持時間{time}のキャパシタなら応答済みの書き込みを失わない",
    ),
    "item.cut_lost": (
        "one that holds {time} loses up to {writes} acknowledged writes ({bytes}; {name})",
        "保持時間{time}では応答済みの書き込みを最大{writes}件失う（{bytes}、{name}）",
    ),
    "item.retry": (
        "{name}: flash lasts {life_years_retried} with read retry and {life_years} without, "
        "{ratio}",
        "{name}：フラッシュの寿命はリードリトライありで{life_years_retried}、なしで{life_years}"
        "（{ratio}）",
    ),
    "item.retry_alone": (
        "flash that is worn out without it lasts {most} ({most_in})",
        "リードリトライなしでは寿命に達したフラッシュは、さらに{most}使える（{most_in}）",
    ),
    "item.retry_range": (
        "flash that is worn out without it lasts from {least} ({least_in}) to {most} ({most_in})",
        "リードリトライなしでは寿命に達したフラッシュは、さらに{least}（{least_in}）から{most}"
        "（{most_in}）使える",
    ),
    "item.empty_ramped": (
        "in {phase} the ramp used up the amount, leaving nothing to measure",
        "「{phase}」ではランプ期間で総量を使い切り、測定する分が残らなかった",
    ),
    "item.empty": ("in {phase} nothing completed", "「{phase}」で完了したものはない"),
    "item.empty_failed": (
        "in {phase} all {count} commands failed",
        "「{phase}」では全{count}コマンドが失敗",
    ),
    "item.at_time": ("at {time} {event}", "{time}に{event}"),
    "item.unknown": (
        "Of what was not published, {name} matters most: {what} become {low} to {high} of those"
        " shown",
        "未公表の設定のうち{name}の影響が最も大きく、{what}は表示値の{low}から{high}になる",
    ),
    "item.unknown_others": (
        "the others move them by at most {share}",
        "他の設定の影響は最大{share}",
    ),
    "unknown.values": ("values", "値"),
    "unknown.ratios": ("ratios", "比"),
    "range.ratio": ("{low} to {high}", "{low}～{high}"),
    "item.effect": (
        "{axis} {level} yields {ratio} the transactions of {first}{aside}",
        "{axis}を{first}から{level}にするとトランザクションは{ratio}{aside}",
    ),
    "item.limit": (
        "{name} sustains {rate} requests per second{aside} with {operation} {measure} below "
        "{limit}",
        "{name}が{operation}の{measure}を{limit}未満に保てる要求レートは毎秒{rate}{aside}まで",
    ),
    "item.limit_always": (
        "{name} sustains at least {rate} requests per second with {operation} {measure} below "
        "{limit}; no tested rate certainly exceeds the limit",
        "{name}の{operation}の{measure}は毎秒{rate}でも{limit}未満。上限を確実に超える要求レー"
        "トは試した範囲にない",
    ),
    "item.limit_never": (
        "{name} does not sustain {rate} requests per second with {operation} {measure} below "
        "{limit}; no lower tested rate certainly keeps the limit",
        "{name}の{operation}の{measure}は毎秒{rate}で{limit}以上。上限を確実に満たす、より低い"
        "要求レートは試した範囲にない",
    ),
    "item.limit_unknown": (
        "the tested rates do not determine how much {name} sustains with {operation} {measure}"
        " below {limit}",
        "{name}の{operation}の{measure}を{limit}未満に保てる要求レートは、試した範囲では不明",
    ),
    "item.effect_time": (
        "{axis} {level} takes {ratio} the time of {first}{aside}",
        "{axis}を{first}から{level}にすると時間は{ratio}{aside}",
    ),
    "item.effect_one": (
        "{axis} {level} makes {value} transactions per second, {ratio}{aside} the {base} of "
        "{first}",
        "{axis} {level}のトランザクションは毎秒{value}、{first}の{base}の{ratio}{aside}",
    ),
    "item.effect_time_one": (
        "{axis} {level} takes {value}, {ratio}{aside} the {base} of {first}",
        "{axis} {level}の時間は{value}、{first}の{base}の{ratio}{aside}",
    ),
    "item.effect_latency": (
        "{axis} {level} takes {ratio} the time of {first} per read or write{aside}",
        "{axis}を{first}から{level}にすると読み書き1回の時間は{ratio}{aside}",
    ),
    "item.effect_latency_one": (
        "{axis} {level} takes {value} per read or write, {ratio}{aside} the {base} of {first}",
        "{axis} {level}の読み書き1回の時間は{value}、{first}の{base}の{ratio}{aside}",
    ),
    "item.effect_life": (
        "with {axis} {level} the drive lasts {ratio} as long as with {first}{aside}",
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
    "item.outage": (
        "{name}: service stops {served} and {recovered}",
        "{name}：{served}、{recovered}",
    ),
    "item.outages": ("of {count} outages{by} the longest is ", "停止{count}件{by}の最長は"),
    "item.outages_by": (" by {event}", "（{event}）"),
    "item.outages_more": (
        " ({count} more outages by other events, none longer)",
        "（他のイベントによる停止{count}件はいずれもこれより短い）",
    ),
    "item.lost": (
        "{cells} of {all} cells lose acknowledged commits, {name} the most: {count}",
        "{all}セル中{cells}セルで応答済みコミットを喪失、最多は{name}の{count}件",
    ),
    "item.lost_one": (
        "{count} acknowledged commits are lost",
        "応答済みコミットの喪失は{count}件",
    ),
    "item.power_cuts": (
        "{name}: {torn} of {cuts} power cuts broke pages ({pages})",
        "{name}：電源断{cuts}回中{torn}回でページが破損（{pages}ページ）",
    ),
    "item.power_cuts_whole": (
        "{name}: none of {cuts} power cuts broke a page",
        "{name}：電源断{cuts}回でページの破損なし",
    ),
    "item.power_cuts_lost": (
        ", and the database started after {starts} of {cuts}",
        "、データベースが起動したのは{cuts}回中{starts}回",
    ),
    "item.power_cuts_back": (", and the database started after each", "、毎回起動した"),
    "item.failover_lost": (
        "{name} lost {lost} of {acknowledged} acknowledged commits",
        "{name}は応答済みコミット{acknowledged}件中{lost}件を喪失",
    ),
    "item.failover_kept": (
        "none of {all} acknowledged commits was lost (failovers: {count})",
        "応答済みコミット{all}件の喪失なし（フェイルオーバー{count}回）",
    ),
    "item.failover_others": (
        "other failovers ({count}) lost none of {all}",
        "ほかのフェイルオーバー{count}回は{all}件の喪失なし",
    ),
    "item.failover_away": (
        "the service was back after {span}",
        "サービスの復帰まで{span}",
    ),
    "outage.for": ("for {time}", "サービスの停止は{time}"),
    "outage.to_end": ("until the phase ends", "フェーズ終了までサービス停止"),
    "outage.recovered": (
        "reaches 90 % of its rate after {time}",
        "元のレートの90 %に戻るまで{time}",
    ),
    "outage.unrecovered": (
        "does not reach 90 % of its rate in this phase",
        "このフェーズ内では元のレートの90 %に戻らない",
    ),
    "item.effect_range": (
        "{low} to {high}, depending on the other axes",
        "他の軸により{low}～{high}",
    ),
    "item.tail_first": ("{name} has a p99 of {value}{aside}", "p99は{name} {value}{aside}"),
    "item.tail": ("{name} {value}{aside}", "{name} {value}{aside}"),
    "item.at": (" at {axis} {level}", "（{axis} {level}）"),
    "item.commit": (
        "a commit takes {mean} on average and {tail} at p99: {rate} commits per second",
        "1回のコミットは平均{mean}、p99で{tail}、毎秒{rate}回",
    ),
    "item.commit_fastest": ("the fastest of {count}, {item}", "{count}件中、最も速いのは{item}"),
    "item.commit_slowest": ("the slowest, {item}", "最も遅いのは{item}"),
    "item.commit_rate": ("{rate} commits per second", "コミットは毎秒{rate}回"),
    "item.interference": (
        "p99 of {name} changes from {before} in “{first}” to {after} in “{second}”, {ratio}",
        "{name}のp99は、「{first}」の{before}から「{second}」の{after}へ、{ratio}",
    ),
    "item.others": ("the other {count} lie between them", "他の{count}件はその間"),
    "item.best": ("maximum {best}, minimum {worst}", "最大で{best}、最小で{worst}"),
    "list.separator": ("; ", "、"),
    "list.end": (".", "。"),
    "list.short": (", ", "、"),
    "doubt.method": (
        "Not compliant with {name}; deviations: {count}",
        "{name}に非準拠（逸脱{count}件）",
    ),
    "doubt.invalid": (
        "{bad} of {all} cells can't be trusted: {items}.",
        "{all}セル中{bad}セルは信頼できない：{items}。",
    ),
    "doubt.warning": (
        "Warnings for {bad} of {all} cells: {items}.",
        "{all}セル中{bad}セルは要注意：{items}。",
    ),
    "doubt.all_invalid": ("No cell can be trusted: {items}.", "どのセルも信頼できない：{items}。"),
    "doubt.all_warning": ("Warnings for every cell: {items}.", "全セルが要注意：{items}。"),
    "doubt.item": ("{place}, {cause}", "{place}（{cause}）"),
    "doubt.place": ("{head} {numbers}", "{head} {numbers}"),
    "doubt.at": ("at {levels}", "{levels}"),
    "doubt.more": ("{count} more", "ほか{count}セル"),
    "doubt.beyond": ("beyond {level}", "{level}超"),
    "doubt.levels": ("{count} levels of {axis}", "{axis}の{count}水準"),
    "list.or": (" or ", "・"),
    "list.also": (", and ", "、"),
    "doubt.and_warnings": (" Warnings for {count} more.", "ほかに{count}セルが要注意。"),
    "note.crossed": ("{sign} invalid: {reasons}.", "{sign} 無効：{reasons}。"),
    "table.answer_at": ("{metric}, {place}", "{place}の{metric}"),
    "table.answer_percent": ("{metric}; {base} = 100 %", "{metric}（{base}を100 %とする）"),
    "table.answer_ratio": ("{metric}, and its ratio to {base}", "{metric}と、{base}に対する比"),
    "table.against": ("Against {base}, {items}.", "{base}に対して、{items}。"),
    "table.one": ("{name}: {ratio}, {value} for {base}", "{name}は{ratio}（{base}が{value}）"),
    "table.same_one": (
        "{name}: the same within 5 %, {value} for {base}",
        "{name}は5 %以内で同じ（{base}が{value}）",
    ),
    "table.between": (
        "{name}: {low} ({lowest}) to {high} ({highest})",
        "{name}は{low}（{lowest}）～{high}（{highest}）",
    ),
    "table.same": ("{name}: the same within 5 %", "{name}は5 %以内で同じ"),
    "table.end": ("{value} at {row}", "{row}で{value}"),
    "table.extreme": ("{value} at {place}", "{value}（{place}）"),
    "table.extremes": ("from {best} down to {worst}", "{best}から{worst}まで"),
    "table.column_ends": ("{name}: {ends}", "{name}：{ends}"),
    "table.ends": ("{best}, {worst}", "{best}、{worst}"),
    "table.span": ("{first} to {last}", "{first}～{last}"),
    "table.always_more": (
        "{one} does more than {other} at every level of {axis}.",
        "{axis}によらず{one}が{other}を上回る。",
    ),
    "table.always_less": (
        "{one} does less than {other} at every level of {axis}.",
        "{axis}によらず{one}は{other}を下回る。",
    ),
    "table.always_same": (
        "{one} equals {other} within 5 % at every level of {axis}.",
        "{axis}によらず{one}と{other}は5 %以内で同じ。",
    ),
    "table.crossing": (
        "{one} compared with {other}: {items}.",
        "{one}を{other}と比べると、{items}。",
    ),
    "table.more_at": ("more at {axis} {levels}", "{axis} {levels}では多い"),
    "table.less_at": ("less at {axis} {levels}", "{axis} {levels}では少ない"),
    "table.same_at": ("the same within 5 % at {axis} {levels}", "{axis} {levels}では5 %以内で同じ"),
    "table.best_of": ("{caption}; best of {axes}", "{caption}、{axes}のうち最良"),
    "table.published_cell": ("published {value}, ours {ratio}", "公表値 {value}、本結果は{ratio}"),
    "table.published_ratio": ("published {ratio}", "公表値 {ratio}"),
    "answer.none": ("No cell has a result yet.", "まだ結果がありません。"),
    "answer.clause": (" — {world}: {sentence}", " — {world}：{sentence}"),
    "aside.model": ("model {interval}", "モデル{interval}"),
    "note.modelled": (
        "In square brackets: model error (90 %).",
        "角括弧内はモデル誤差の範囲（90 %）。",
    ),
    "note.beyond": ("{sign} Outside the validated range.", "{sign}検証済みの範囲外。"),
    "note.one_run": ("one run, no interval", "1回のみ、区間なし"),
    "note.no_interval": ("no interval", "区間なし"),
    "note.of_a_part": (
        "simulated drive of reduced capacity: not valid for a whole drive",
        "縮小した容量のドライブの値で、実容量のドライブには当てはまらない",
    ),
    # tables
    "table.overview": (
        "Key figures; 95 % intervals in parentheses",
        "主な数値。括弧内は95 %区間",
    ),
    "table.overview_bare": (
        "Key figures, without intervals: single runs, or too little data",
        "主な数値（1回のみ、またはデータ不足のため区間なし）",
    ),
    "table.plain": ("{phase}: all measures", "{phase}：全指標"),
    "table.matrix": ("{phase}: {measure}", "{phase}：{measure}"),
    "table.total": (
        "{phase}: {measure}, reads and writes together",
        "{phase}：{measure}（読み書き合計）",
    ),
    "table.why": (
        "{phase}: mean latency by part, and bottleneck",
        "{phase}：平均レイテンシの内訳と律速要因",
    ),
    "note.why": (
        "Means over all operations. The parts add up to the latency.",
        "全操作の平均。内訳の合計はレイテンシに等しい。",
    ),
    "table.endurance": (
        "{phase}: write amplification, spare area and life",
        "{phase}：書き込み増幅、予備領域、寿命",
    ),
    "note.endurance": (
        "Bytes written to the drives include an array's copies, parity and rebuilds; write "
        "amplification is that of the drives. Spare area is a share of the capacity: effective "
        "as garbage collection sees it (a dash if it moved nothing), nominal as built. Cycles "
        "are the maximum of any block. Life is that of the whole drive at this program rate.",
        "ドライブへの書き込みはアレイの複製・パリティ・リビルドを含み、書き込み増幅はドライブ内"
        "の値。予備領域は容量に対する割合（実効はガベージコレクションから見た値で、移動がなけれ"
        "ば「–」、公称は設計値）。書き換え回数は全ブロックの最大値。寿命はこの書き込み速度を続"
        "けた場合のドライブ全体の値。",
    ),
    "table.comparison": (
        "Storage comparison: performance and power",
        "ストレージの比較：性能と消費電力",
    ),
    "note.comparison": (
        "Published figures stand next to ours, with both ends of a published range. Power is "
        "that of all drives of the storage. If a study uses a part of a storage, all figures "
        "except power are of that part.",
        "公表値を併記し、範囲で公表されたものは両端を示す。電力はストレージの全ドライブの合計。"
        "ストレージの一部だけを使う場合、電力以外はその部分の値。",
    ),
    "note.comparison.power": (
        "Power is that of all drives of the storage. If a study uses a part of a storage, all "
        "figures except power are of that part.",
        "電力はストレージの全ドライブの合計。ストレージの一部だけを使う場合、電力以外はその部分"
        "の値。",
    ),
    "table.served": (
        "Drives of emulated runs: latency of the model, latency met, and lateness",
        "エミュレーションのドライブ：モデルのレイテンシ、実現したレイテンシ、遅延",
    ),
    "note.served": (
        "Medians, except where stated. Late: from the due time of an answer to its dispatch. "
        "Path: time of a request through the kernel; each answer leaves that much earlier. "
        "Unmet: operations with a shorter modelled latency.",
        "特記以外は中央値。遅延は応答の予定時刻から送出まで。経路はカーネルを通る時間で、各応答はその分だけ"
        "早く送出される。未達はモデルのレイテンシが経路より短い操作の割合。",
    ),
    "table.power": (
        "{phase}: capacity, mean power of the drives, and performance per watt",
        "{phase}：容量、ドライブの平均電力と1 Wあたりの性能",
    ),
    "note.power": (
        "Power is that of all drives of the storage, idle power included, without host, links "
        "and controllers. Reads, writes and trims count. Functions that share a drive share "
        "one row under its name; a single function's power, too, is the whole drive's.",
        "ストレージの全ドライブの合計電力（待機電力を含む）。ホスト、リンク、コントローラの電力"
        "は含まない。読み出し、書き込み、TRIMを数える。1台のドライブを共有するファンクションは"
        "ドライブ名の1行にまとめる。単独のファンクションでも電力はドライブ全体の値。",
    ),
    "note.heat": (
        "Temperature is that of the warmest drive at interval ends. Throttled: share of the "
        "drives' time with thermal throttling.",
        "温度は最も熱いドライブの区間終了時の値。温度制限は、熱による性能抑制が働いた時間の割合。",
    ),
    "note.warming": (
        "Not settled: the drive was still warming up. A longer phase at this power reaches "
        "higher temperatures and may be throttled.",
        "安定前の値。ドライブは温度上昇の途中で、同じ電力でもフェーズが長ければ温度はさらに上が"
        "り、温度制限を受けることもある。",
    ),
    "table.interference": (
        "{world}: latency p99.9 alone, with one other load, and with all",
        "{world}：単独、他の1つと同時、すべてと同時のレイテンシp99.9",
    ),
    "note.interference": (
        "In parentheses: ratio to the latency alone. See the tables of each phase for intervals.",
        "括弧内は単独時との比。区間は各フェーズの数値の表を参照。",
    ),
    "column.disturbed_load": ("Load", "負荷"),
    "column.alone": ("alone", "単独"),
    "column.with_load": ("with", "同時に動作"),
    "column.with_all": ("with all", "すべてと同時"),
    "table.unserved": (
        "Arrivals not served before the phase ended",
        "フェーズ終了までに処理されなかった到着",
    ),
    "note.unserved": (
        "They count in no rate and no latency. With them, latencies would be longer.",
        "レートとレイテンシには含まれない。含めればレイテンシはより長い。",
    ),
    "column.arrived": ("Arrived", "到着"),
    "column.unserved": ("Not served", "未処理"),
    "column.unserved_share": ("Share", "割合"),
    "table.verdicts": ("Cells by verdict, worst first", "判定別のセル。悪いものから順"),
    "table.method": ("{name}: {compliance}", "{name}：{compliance}"),
    "method.compliant": ("followed without deviation", "逸脱なし"),
    "method.deviates": ("not compliant, for these reasons", "非準拠。理由は以下のとおり"),
    "table.limits": (
        "Highest rate with the latency below its limit, by bisection",
        "レイテンシを上限未満に保つ最大の要求レート（二分探索）",
    ),
    "note.limits": (
        "At the lower bound, the latency's whole interval lies below the limit; at the upper "
        "bound, at or above it. The confidence is that of each bound. The knee is the rate at "
        "which the curve is farthest from the chord between its ends.",
        "下限ではレイテンシの区間全体が上限値未満、上限では区間全体が上限値以上。信頼度は各境界"
        "のもの。屈曲点は、曲線が両端を結ぶ弦から最も離れる要求レート。",
    ),
    "table.steady": (
        "Steady state by the two criteria of the SNIA PTS: range and slope over the window",
        "SNIA PTSの2つの基準（測定窓内の変動幅と傾き）による定常状態の判定",
    ),
    "table.published": ("Published figures and ours", "公表値と今回の値"),
    "note.published": (
        "In parentheses: our model error (90 %) if the published figure is unknown, our "
        "sampling error (95 %) if it is known.",
        "括弧内は、公表値が不明な場合は今回の値のモデル誤差（90 %）、既知の場合は今回の値の標本"
        "誤差（95 %）。",
    ),
    "published.most": ("{metric}, maximum", "{metric}（最大値）"),
    "published.ramp_included": ("{metric}, ramp included", "{metric}（ランプを含む）"),
    "published.more_than": ("{metric}, difference to another cell", "{metric}（別のセルとの差）"),
    "published.ratio_to": ("{metric}, ratio to another cell", "{metric}（別のセルとの比）"),
    "published.gain_over": ("{metric}, gain over another cell", "{metric}（別のセルからの増加率）"),
    "published.same_up_to": (
        "highest level at which {metric} does not depend on the other axis",
        "他の軸によらず{metric}が等しい最大の水準",
    ),
    "published.apart_from": (
        "lowest level at which {metric} depends on the other axis",
        "他の軸によって{metric}が変わる最小の水準",
    ),
    "table.published.quick": (
        "Published figures and ours, of a study reduced by --quick: levels are not comparable",
        "公表値と、--quickで縮小したスタディの値：水準は比較不可",
    ),
    "note.published.quick": (
        "The quick part of the study uses other sizes, times or drive states than the published "
        "figures: only ratios can be compared, here to the first figure of the same kind. Run the "
        "whole study to compare levels.",
        "スタディのquick部分は、サイズ、時間、またはドライブの状態が公表値の条件と異なるため、比だけを"
        "比較できる（同種の最初の値に対する比）。水準の比較にはスタディ全体を実行する。",
    ),
    "note.published.emulated": (
        "Emulated figures are of a real server on this machine's processors.",
        "エミュレーションの値は、このマシンのプロセッサ上の実サーバーによる。",
    ),
    "table.environment": ("Environment: {world}", "環境：{world}"),
    "column.mean": ("Mean latency", "平均レイテンシ"),
    "column.amplification": ("Write amplification", "書き込み増幅"),
    "column.by_host": ("Host writes, all runs", "ホストの書き込み（全実行の合計）"),
    "column.written": ("Drive writes, all runs", "ドライブの書き込み（全実行の合計）"),
    "column.spare.effective": ("Effective spare area", "実効予備領域"),
    "column.spare.nominal": ("Nominal spare area", "公称予備領域"),
    "column.cycles": ("P/E cycles", "P/Eサイクル数"),
    "column.life": ("Life", "寿命"),
    "column.life_retried": ("Life with read retry", "リードリトライ込みの寿命"),
    "cell.years": ("{years} years", "{years}年"),
    "cell.days": ("{days} days", "{days}日"),
    "column.setting": ("Setting", "設定"),
    "column.assumed": ("Assumed", "仮定"),
    "column.moves_values": ("Values", "値"),
    "column.moves_ratios": ("Ratios between levels", "水準間の比"),
    "column.capacity": ("Usable capacity", "使用可能容量"),
    "column.drive": ("Drive", "ドライブ"),
    "column.operations": ("Operations", "操作"),
    "column.modelled": ("Modelled", "モデル"),
    "column.met": ("Met", "実現値"),
    "column.late": ("Late", "遅延"),
    "column.late_p99": ("Late, p99", "遅延 p99"),
    "column.unmet": ("Unmet", "未達"),
    "column.path": ("Path", "経路"),
    "column.power": ("Power", "電力"),
    "column.iops_per_watt": ("IOPS per watt", "1 WあたりIOPS"),
    "column.bandwidth_per_watt": ("Bandwidth per watt", "1 Wあたり帯域"),
    "column.celsius_mean": ("Mean temperature", "平均温度"),
    "column.celsius_max": ("Highest temperature", "最高温度"),
    "column.throttled": ("Throttled", "温度制限"),
    "column.limit": ("Bottleneck", "律速要因"),
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
    "column.highest": ("Highest rate below it", "上限未満の最大要求レート"),
    "column.between": ("Bracket", "下限–上限"),
    "column.confidence": ("Confidence", "信頼度"),
    "column.knee": ("Knee", "屈曲点"),
    "column.rates": ("Rates run", "実行した要求レート数"),
    "column.number": ("No.", "番号"),
    "column.deviation": ("Deviation", "逸脱"),
    "column.tracked": ("Tracked", "追跡対象"),
    "column.rounds": ("Rounds", "ラウンド"),
    "column.window_mean": ("Mean of the window", "測定窓の平均"),
    "column.excursion": ("Range / allowed", "変動幅／許容"),
    "column.slope_excursion": ("Slope excursion / allowed", "傾きによる変動／許容"),
    "column.fit": ("Fitted line, per round", "回帰直線（1ラウンドごと）"),
    "column.correlation": ("Correlation", "相関係数"),
    "column.id": ("Id", "ID"),
    "column.cell": ("Cell", "セル"),
    "column.metric": ("Metric", "指標"),
    "column.published": ("Published", "公表値"),
    "column.ours": ("Ours", "今回の値"),
    "column.ours_to_published": ("Ours ÷ published", "今回 ÷ 公表"),
    "column.published_to_first": ("Published ÷ first", "公表 ÷ 最初"),
    "column.ours_to_first": ("Ours ÷ first", "今回 ÷ 最初"),
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
    "cell.reason": ("{reason} ({count} cells)", "{reason}（{count}セル）"),
    "cell.all": ("all {count}", "全{count}件"),
    "cell.some": ("{count} of {total}", "{total}件中{count}件"),
    "row.limit": (
        "{name}: highest rate with {operation} {measure} below {limit}",
        "{name}：{operation}の{measure}を{limit}未満に保つ最大要求レート",
    ),
    "row.peak": ("{name}: peak {measure}", "{name}：最大{measure}"),
    "row.plain": ("{name}: {measure}", "{name}：{measure}"),
    "row.floor": ("{name}: {measure} at {axis} {level}", "{name}：{measure}（{axis} {level}）"),
    "row.interference": (
        "{name}: p99, {second} ÷ {first}",
        "{name}：p99、{second} ÷ {first}",
    ),
    # plots
    "figure.answer": ("{metric}", "{metric}"),
    "figure.rate": ("{phase}: operations per second", "{phase}：毎秒の操作数"),
    "figure.latency": ("{phase}: latency", "{phase}：レイテンシ"),
    "figure.percentiles": ("{phase}: latency distribution", "{phase}：レイテンシの分布"),
    "figure.percentiles_plain": (
        "Latency distribution in the other phases",
        "その他のフェーズのレイテンシの分布",
    ),
    "figure.series": ("Over time: {name}", "時間変化：{name}"),
    "figure.over_written": ("Over bytes written: {name}", "書き込み量に対する変化：{name}"),
    "figure.bars_rate": ("Operations per second", "毎秒の操作数"),
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
        "First run of each cell. Each step to the right is one more nine. Both axes are "
        "logarithmic.",
        "各セルの最初の実行。右へ1目盛り進むごとに9が1つ増える。両軸とも対数。",
    ),
    "hint.some_cells": ("{shown} of {all} cells are shown.", "{all}セル中{shown}セルを表示。"),
    "hint.series": ("First run, by interval.", "最初の実行を区間ごとに表示。"),
    "hint.series_cell": (
        "First run of the cell named above the plot ({all} cells in all), by interval.",
        "{all}セルのうちグラフの上に示すセルの最初の実行を区間ごとに表示。",
    ),
    "hint.cells": ("Each cell, by interval.", "各セルを区間ごとに表示。"),
    "hint.series_runs": (
        "Mean of each cell over its runs (at most {runs}), by interval. The band spans their "
        "minimum to maximum.",
        "各セルの全実行（最大{runs}回）の平均を区間ごとに表示。帯は最小から最大まで。",
    ),
    "hint.model": (
        "Wide, pale: model error (90 %).",
        "太く淡い部分はモデル誤差の範囲（90 %）。",
    ),
    "figure.modelled": ("Cells with the model error", "各セルの値とモデル誤差の範囲"),
    "hint.whiskers_modelled": (
        "Whiskers: 95 % sampling intervals within the runs.",
        "ひげは実行内の標本誤差の95 %区間。",
    ),
    "hint.dots": (
        "Points, not bars: the axis is logarithmic.",
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
    "axis.minutes": ("time (minutes)", "時間（分）"),
    "axis.hours": ("time (hours)", "時間"),
    "axis.written": ("written (GB)", "書き込み量（GB）"),
    "axis.number": ("value", "値"),
    "axis.hit_ratio": ("hit ratio", "ヒット率"),
    "axis.bytes": ("bytes", "バイト"),
    # databases
    "table.database": ("Key figures by cell", "セルごとの主要指標"),
    "note.database": (
        "In parentheses: ratio to the first cell of the phase. Rates are per second. Reads and "
        "writes are as counted by the server and by the disk.",
        "括弧内は同じフェーズの最初のセルとの比。レートは毎秒。読み書きはサーバー自身とディスク"
        "の計数で、サーバーが数えないものは空欄。",
    ),
    "table.spent": (
        "Bottleneck of each cell: client time by activity",
        "各セルの律速要因：クライアント時間の内訳",
    ),
    "note.spent": (
        "Shares of the total time of the simulated clients. Waits for page reads, free pages, "
        "the log or log space are waits for the storage: the busiest resource is then that of "
        "the storage, else that of all.",
        "シミュレートしたクライアントの全時間に対する割合。ページの読み出し、空きページ、ログ、"
        "ログの空きを待つ時間はストレージの待ちであり、最も稼働した資源にはそのストレージのもの"
        "を示す。それ以外では全体で最も稼働した資源。",
    ),
    "column.spent": ("Share of client time", "クライアント時間の割合"),
    "column.spent_most": ("Largest share", "最大の割合"),
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
    "spent.pool_mutex": ("buffer pool mutex", "バッファプールのミューテックス"),
    "spent.row_locks": ("row locks", "行ロック"),
    "spent.tree_locks": ("index tree locks", "インデックスツリーのロック"),
    "spent.log": ("log", "ログ"),
    "spent.log_space": ("log space", "ログの空き"),
    "spent.outage": ("server outage", "サーバーの停止"),
    "spent.thinking": ("think time or idle", "クライアントの待機（思考・到着待ち）"),
    "table.times": ("Response times by transaction type", "トランザクション種別の応答時間"),
    "table.power_cuts": (
        "Power cuts while pages were written",
        "ページ書き込み中の電源断",
    ),
    "cuts.cuts": ("power cuts", "電源断"),
    "cuts.torn": ("that tore a write", "書き込みが途切れた回数"),
    "cuts.broken": ("broken pages", "破損ページ"),
    "cuts.by_tool": ("by innochecksum", "innochecksumによる破損ページ"),
    "cuts.starts": ("starts", "起動"),
    "cuts.of": ("{count} of {all}", "{all}回中{count}回"),
    "cuts.rate": ("transactions / s", "トランザクション / s"),
    "cuts.written": ("written per transaction", "トランザクションあたり書き込み量"),
    "note.power_cuts": (
        "Broken pages do not fit their checksum after a cut, before the server repairs them from "
        "its doublewrite buffer; of simulated servers, pages that no second copy repairs. Written: "
        "by the server to its storage, after cuts too.",
        "破損ページは電源断後、サーバーがダブルライトバッファから修復する前にチェックサムが合わないペー"
        "ジ。シミュレーションでは、複製がなく修復できないページ。書き込み量はサーバーからストレージへの"
        "もので、電源断後の回復を含む。",
    ),
    "table.failovers": ("Failovers", "フェイルオーバー"),
    "failover.cause": ("cause", "原因"),
    "failover.lost": ("acknowledged commits lost", "失われた応答済みコミット"),
    "failover.of": ("{count} of {all}", "{all}件中{count}件"),
    "failover.away": ("event to first commit", "イベントから最初のコミットまで"),
    "failover.fence": ("fence", "旧プライマリの隔離"),
    "failover.catch_up": ("catch up", "適用の完了"),
    "failover.promotion": ("promotion", "昇格"),
    "failover.lag": ("lag before", "直前までの遅延"),
    "failover.link": ("over the link before", "直前までのリンク転送"),
    "cause.power_cut": ("power cut", "電源断"),
    "cause.kill": ("kill", "強制終了"),
    "cause.link_cut": ("link cut", "リンク断"),
    "note.failovers": (
        "Times are medians of the runs. The time to the first commit includes the wait that the "
        "study states (down). Fence to promotion: steps of a standby that replicates by its log. "
        "Lag: time until it has applied what the first server had written.",
        "時間は各実行の中央値。最初のコミットまでの時間には、スタディのdown（切り替え開始までの待ち）を"
        "含む。隔離・適用・昇格は、ログで複製する待機系の手順。遅延は、先に書かれた内容を待機系が適用し終"
        "えるまでの時間。",
    ),
    "table.checks": (
        "Data checks: consistency, ledger, mix, outages and errors",
        "データの検査：一貫性条件、台帳、ミックス、停止、エラー",
    ),
    "column.type": ("Type", "種別"),
    "column.found": ("Result", "結果"),
    "check.run": ("Run {number}:", "{number}回目："),
    "check.conditions": (
        "{held} of {all} consistency conditions hold after the run",
        "実行後に一貫性条件{all}件中{held}件が成立",
    ),
    "check.ledger": (
        "{acknowledged} acknowledged commits, {lost} lost, {twice} duplicated, {phantom}"
        " unexplained; {ambiguous} unanswered",
        "応答済みコミット{acknowledged}件、消失{lost}件、重複{twice}件、説明不能{phantom}件、応"
        "答なし{ambiguous}件",
    ),
    "check.ledger_lost": (
        "{acknowledged} acknowledged commits, {lost} lost; {ambiguous} unanswered",
        "応答済みコミット{acknowledged}件、消失{lost}件、応答なし{ambiguous}件",
    ),
    "check.mix": (
        "all {count} shares of the mix are within bounds",
        "ミックスの{count}項目はすべて規定内",
    ),
    "check.mix_few": (
        "too few transactions to judge the mix",
        "ミックスを判定するにはトランザクションが少なすぎる",
    ),
    "check.mix_outside": ("shares of the mix out of bounds: {names}", "ミックスが規定外：{names}"),
    "check.outage": (
        "first error at {begin}; first success {success}, 90 % of the previous rate {recovered}"
        "; about {unserved} transactions not served",
        "最初のエラー{begin}、最初の成功まで{success}、以前の90 %まで{recovered}、処理できなか"
        "ったトランザクションは約{unserved}件",
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
        "the server answered again after {away}, {recovery} of it startup",
        "{away}後に応答再開、うち起動{recovery}",
    ),
    "crash.cut_short": (
        "the next event followed after {away}, before the server answered",
        "応答再開前の{away}後に次のイベントが発生",
    ),
    "check.restart": (
        "`{event}`: shutdown at {at}: {flushed} pages written in {shutdown}; the server "
        "answered again after {away}, {recovery} of it startup",
        "`{event}`：{at}に正常停止を開始。{shutdown}で{flushed}ページを書き出し、停止開始から"
        "{away}後に応答再開、うち起動{recovery}",
    ),
    "check.restart_cut_short": (
        "`{event}`: shutdown at {at}, crash after {away}; {flushed} pages written in {shutdown}",
        "`{event}`：{at}に正常停止を開始し、{away}後に異常終了。{shutdown}で{flushed}ページを書"
        "き出し",
    ),
    "check.pool_loaded": (
        "`{event}`: {pages} of {listed} listed pages reloaded by {at}, in {spent}; the others "
        "were already there",
        "`{event}`：{at}までの{spent}で、記録された{listed}ページのうち{pages}ページを読み戻し、"
        "残りはすでにプール内",
    ),
    "check.pool_loaded_in_part": (
        "`{event}`: {pages} of {listed} listed pages reloaded in {spent}, up to {at}; the "
        "others never",
        "`{event}`：{at}までの{spent}で、記録された{listed}ページのうち{pages}ページを読み戻し、"
        "残りは読み戻されず",
    ),
    "crash.recovered": (
        "{log} of log and {pages} pages read",
        "ログ{log}と{pages}ページを読み込み",
    ),
    "check.whole_exact": (
        "exact mode: all {whole} were simulated",
        "精密モード：{whole}すべてをシミュレーション",
    ),
    "check.whole_fast": (
        "fast mode, nothing to extrapolate: all {whole} were simulated",
        "高速モード（外挿できる部分なし）：{whole}すべてをシミュレーション",
    ),
    "check.simulated_part": (
        "fast mode: the first {simulated} of {whole} were simulated; the rest is extrapolated "
        "from the last {like} of them",
        "高速モード：{whole}のうち最初の{simulated}をシミュレーション。残りはその最後の{like}か"
        "らの外挿",
    ),
    "check.simulated_trend": (
        "fast mode: the first {simulated} of {whole} were simulated; the rest is extrapolated "
        "from the last {like} of them with their trend, at {pace} of their pace",
        "高速モード：{whole}のうち最初の{simulated}をシミュレーション。残りはその最後の{like}か"
        "ら変化の傾向を延長した外挿で、速さはその{pace}",
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
    "table.profile": ("Time of a statement by stage", "文の実行時間の内訳"),
    "note.profile": (
        "Server profile (SHOW PROFILE), mean of all statements after the ramp. Blocks of 512 "
        "bytes, as the kernel counts them for the server's thread. Simulated: work of server "
        "and host while the statements ran.",
        "サーバー自身のプロファイル（SHOW PROFILE）による、ランプ後の全文の平均。ブロックは512"
        "バイトで、カーネルがサーバーのスレッドについて数えたもの。シミュレーションでは、文の実"
        "行中にサーバーとホストが行ったもの。",
    ),
    "column.stage": ("Stage", "段階"),
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
    "figure.hits_and_rates": (
        "{phase}: statements per second (QPS) against buffer pool hit ratio",
        "{phase}：バッファプールヒット率とQPS（文 / 秒）の関係",
    ),
    "hint.hits_and_rates": ("A point per interval of each cell.", "各セルの区間ごとに1点。"),
    "answer.warm_up": ("Warm-up", "ウォームアップ"),
    "warm_up.near_hits": (
        "the hit ratio comes within one point of its steady value {after}",
        "ヒット率は{after}定常値との差が1ポイント以内になる",
    ),
    "warm_up.near_rate": (
        "the rate comes within 10 % of its steady value {after}",
        "スループットは{after}定常値の10 %以内になる",
    ),
    "warm_up.after": ("after {time} ({name})", "{time}後（{name}）に"),
    "warm_up.span": (
        "after {first} ({name}) to {last} ({other})",
        "{first}後（{name}）から{last}後（{other}）までに",
    ),
    "warm_up.same": ("after {time}", "{time}後に"),
    "warm_up.rising": (
        "still changing at the end: {names}",
        "終了時にも変化が続く：{names}",
    ),
    "warm_up.more": ("{names} and {count} more", "{names}、他{count}件"),
    "warm_up.minutes": ("{minutes} min", "{minutes}分"),
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
    "part.queue": ("queueing", "キュー待ち"),
    "part.host": ("host", "ホスト"),
    "part.link": ("link", "リンク"),
    "part.controller": ("controller", "コントローラ"),
    "part.media": ("media", "媒体"),
    "part.gc": ("garbage collection", "ガベージコレクション"),
    "part.rebuild": ("rebuild", "リビルド"),
    "column.part.queue": ("Queueing", "キュー待ち"),
    "column.part.host": ("Host", "ホスト"),
    "column.part.link": ("Link", "リンク"),
    "column.part.controller": ("Controller", "コントローラ"),
    "column.part.media": ("Media", "媒体"),
    "column.part.gc": ("Garbage collection", "ガベージコレクション"),
    "column.part.rebuild": ("Rebuild", "リビルド"),
    "name.part.queue": ("queueing", "キュー待ち"),
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
    "resource.cores": ("processors", "プロセッサ"),
    "resource.lock": ("lock", "ロック"),
    "resource.hypervisor": ("hypervisor", "ハイパーバイザ"),
    "resource.power": ("power", "電力"),
    "resource.threads": ("job threads", "ジョブのスレッド"),
    "resource.port": ("port", "ポート"),
    "resource.thermal": ("thermal limit", "温度制限"),
    "resource.interrupts": ("interrupts", "割り込み"),
    "resource.allowance": ("provider limit", "プロバイダーの制限"),
    "resource.places": ("drive queue depth", "ドライブのキュー深度"),
    "resource.flush_turn": ("flush serialisation", "フラッシュの直列化"),
    "limit.saturated": (
        "{resource} of {subject}, {busy} busy ({part} is {share} of the latency)",
        "{subject}の{resource}（稼働率{busy}、レイテンシの{share}は{part}）",
    ),
    "limit.saturated_places": (
        "drive queue depth of {subject}, full {busy} of the time ({part} is {share} of the "
        "latency)",
        "{subject}のドライブのキュー深度（時間の{busy}は満杯、レイテンシの{share}は{part}）",
    ),
    "limit.saturated_host": (
        "{resource} of the host, {busy} busy ({part} is {share} of the latency)",
        "ホストの{resource}（稼働率{busy}、レイテンシの{share}は{part}）",
    ),
    "limit.waiting": (
        "nothing saturated, but requests queue: {share} of the time, {outstanding} outstanding",
        "飽和はないが要求がキューで待つ（時間の{share}、同時{outstanding}件）",
    ),
    "limit.waiting_on": (
        "nothing saturated, but requests queue: {share} of the time, {outstanding}"
        " outstanding; busiest: {resource} of {subject}, {busy}",
        "飽和はないが要求がキューで待つ（時間の{share}、同時{outstanding}件、最も稼働率が高いの"
        "は{subject}の{resource}で{busy}）",
    ),
    "limit.waiting_on_host": (
        "nothing saturated, but requests queue: {share} of the time, {outstanding}"
        " outstanding; busiest: {resource} of the host, {busy}",
        "飽和はないが要求がキューで待つ（時間の{share}、同時{outstanding}件、最も稼働率が高いの"
        "はホストの{resource}で{busy}）",
    ),
    "limit.latency": (
        "none: bound by the latency of {part} ({share}), {outstanding} outstanding",
        "なし：{part}のレイテンシが律速（{share}、同時{outstanding}件）",
    ),
    "figure.why": ("{phase}: latency breakdown", "{phase}：レイテンシの内訳"),
    "hint.why": (
        "Each bar is the mean latency of a stream, divided into its parts.",
        "棒は各ストリームの平均レイテンシを要因別に分けたもの。",
    ),
    "axis.share": ("share of latency", "レイテンシに占める割合"),
    # worlds, verdicts
    "world.measured": ("Measured", "実測"),
    "world.emulated": ("Emulated", "エミュレーション"),
    "world.simulated": ("Simulated", "シミュレーション"),
    "model.simulated": ("simulated: model of {model}", "シミュレーション：{model}のモデル"),
    "model.emulated": ("emulated: model of {model}", "エミュレーション：{model}のモデル"),
    "model.slow": (", in slow motion × {slow}", "、{slow}倍のスローモーション"),
    "model.unnamed": ("a model, not a measurement", "実測ではなくモデルによる値"),
    "verdict.valid": ("Valid", "有効"),
    "verdict.warning": ("Warning", "要注意"),
    "verdict.invalid": ("Invalid", "無効"),
    "verdict.study": ("Verdict of the study: {verdict}", "スタディの判定：{verdict}"),
    "verdict.share": (
        "Verdict of the study: {verdict} in {bad} of {all} cells",
        "スタディの判定：{all}セル中{bad}セルが{verdict}",
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
        "Run {run} is damaged and excluded: {reason}. `tameshi run` repeats it.",
        "実行{run}は破損しているため除外：{reason}。`tameshi run`で再実行できる。",
    ),
    "caveat.unchecked": (
        "Not sealed: {count} of the runs. Damage to their files would go unnoticed.",
        "封印なし：ファイルのハッシュがない実行が{count}回あり、その破損は検出できない。",
    ),
    "caveat.published.list": (
        "The lists of published figures lack {figures}: nothing to compare.",
        "公表値のリストに{figures}がないため比較できない。",
    ),
    "caveat.published.value": (
        "No cell matches these published figures: {figures}.",
        "対応するセルがない公表値：{figures}。",
    ),
    "published.of": ("{figure} ({metric})", "{figure}（{metric}）"),
    "caveat.empty": ("No result: {cell}.", "結果なし：{cell}。"),
    "caveat.simulated": (
        "Simulated figures ({model}) are those of the modelled drive, not of the disk in this "
        "machine.",
        "シミュレーションの値（{model}）はモデルのドライブのもので、手元のディスクのものではない。",
    ),
    "caveat.emulated": (
        "Emulated figures ({model}) come from real software on a modelled disk.",
        "エミュレーションの値（{model}）は、モデルのディスク上で実際のソフトウェアを動かして得"
        "たもの。",
    ),
    "caveat.slow": (
        "The emulated runs were made in slow motion: a second of a run took {slow} s of wall time, "
        "for drives, server and load alike. All rates, series and waits are in slowed time, in "
        "which this machine's processors are {slow} times as fast.",
        "エミュレーションはスローモーションで実行した。ドライブ、サーバー、負荷のいずれも、実行中の"
        "1秒は実時間の{slow}秒にあたる。レート、時系列、待ち時間はすべてスローモーションの時間に"
        "よるもので、そこではこのマシンのプロセッサーは{slow}倍速い。",
    ),
    "caveat.fast": (
        "In fast mode the rest of a phase is extrapolated, not simulated. Statement rates were "
        "within {most} % of exact mode in every cell that ran in both "
        "(docs/validation/database-modes.md). Reads, writes and single transaction types can "
        "be further off. The intervals do not include this error.",
        "高速モードでは、フェーズの残りはシミュレーションではなく外挿による。両モードで実行した"
        "各セルで、文のレートの差は{most} %以内（docs/validation/database-modes.md）。読み書き"
        "の量やトランザクション種別ごとの値の差はそれより大きいことがあり、区間はこの誤差を含ま"
        "ない。",
    ),
    "caveat.no_interval": (
        "{count} of {total} estimates have no interval: a single run, or too little data. Do "
        "not interpret small differences.",
        "{total}件中{count}件の推定値には区間がない（1回のみ、またはデータ不足）。小さな差を解"
        "釈しないこと。",
    ),
    "caveat.extreme": (
        "{count} of {total} estimates are maximum latencies over all runs and have no "
        "interval: a maximum grows with the amount of data. Do not interpret small differences.",
        "{total}件中{count}件の推定値は全実行を通じた最大レイテンシで、区間がない（最大値はデー"
        "タ量とともに大きくなる）。小さな差を解釈しないこと。",
    ),
    "caveat.one_run": (
        "{count} intervals come from a single run of a real machine. They show the variation "
        "within that run, not the difference to the next one.",
        "{count}件の区間は実機での1回の実行から求めたもの。その実行内のばらつきを示し、次の実行"
        "との差は含まない。",
    ),
    "caveat.method": (
        "Intervals are 95 % intervals ({methods}). For ratios not in the study's results, they "
        "combine the intervals of both sides (MOVER, on logarithms).",
        "区間は95 %区間（{methods}）。試験結果にない比の区間は、両者の区間から対数上のMOVER法で"
        "求める。",
    ),
    "method.log_where_positive": (
        "{method}, on logarithms if all values are positive",
        "{method}、すべての値が正の場合は対数上",
    ),
    "caveat.latency": (
        "Latency runs from the intended start in open loop, from submission in closed loop.",
        "レイテンシの起点は、オープンループでは予定時刻、クローズドループでは発行時刻。",
    ),
    "caveat.scale": (
        "Flash drives ran with a part of their capacity: {scales}. This was validated with one "
        "card (es3000-1.2t) in steady state, down to 1/{shown}: rates, means and medians are "
        "within {most} % of the whole card's; p99 and p99.9 of saturating writes are up to 8 % "
        "and 21 % too short (docs/validation/capacity-scale.md). Changes over time (a fresh "
        "drive, an SLC cache, heat) were not validated and happen sooner than on a whole "
        "drive. Maxima and standard deviations do not scale and are marked in the tables: run "
        "a study at scale 1 for them (ready study flash-card-tails).",
        "フラッシュの容量を縮小して実行した：{scales}。縮小の影響は1種類のカード（es3000-1.2t）"
        "の定常状態で1/{shown}まで検証済みで、レート・平均・中央値は全容量の場合の{most} %以内。"
        "飽和した書き込みのp99とp99.9は最大8 %・21 %短い（docs/validation/capacity-scale.md）。"
        "時間とともに変わるもの（未書き込みのドライブ、SLCキャッシュ、発熱）は未検証で、全容"
        "量より早く進む。最大値と標準偏差は容量に比例しないため表に印を付けた。実容量での値はス"
        "ケール1のスタディで得られる（付属のスタディflash-card-tails）。",
    ),
    "caveat.scale_beyond": (
        "Flash drives ran with a part of their capacity: {scales}. Results were compared with "
        "a whole drive's down to 1/{shown} only (docs/validation/capacity-scale.md). Beyond "
        "that, the error of rates, means and medians is unknown, and tails, maxima and "
        "standard deviations are not those of a whole drive.",
        "フラッシュの容量を縮小して実行した：{scales}。全容量との比較は1/{shown}まで（"
        "docs/validation/capacity-scale.md）で、それより小さい容量でのレート・平均・中央値の誤"
        "差は不明。テール、最大値、標準偏差も全容量の値ではない。",
    ),
    "caveat.scale_of": ("1/{scale} ({names})", "1/{scale}（{names}）"),
    "caveat.left_out": ("Not modelled: {reason}.", "モデル化していないもの：{reason}。"),
    "caveat.outside": (
        "The model is not validated for {phase} in this range.",
        "この範囲の「{phase}」について、モデルは検証されていない。",
    ),
    # well-known names of axes, levels, phases and streams; others are printed as written
    "name.random_read": ("random read", "ランダム読み出し"),
    "name.random_write": ("random write", "ランダム書き込み"),
    "name.sequential_read": ("sequential read", "シーケンシャル読み出し"),
    "name.sequential_write": ("sequential write", "シーケンシャル書き込み"),
    "name.read": ("read", "読み出し"),
    "name.write": ("write", "書き込み"),
    "name.strided_read": ("strided read", "等間隔の読み出し"),
    "name.strided_write": ("strided write", "等間隔の書き込み"),
    # streams by what they do
    "hint.stream": ("Stream: {stream}.", "ストリーム：{stream}。"),
    "stream.random": ("random", "ランダム"),
    "stream.sequential": ("sequential", "シーケンシャル"),
    "stream.strided": ("strided", "等間隔"),
    "stream.synced": ("{stream} with sync", "{stream}＋同期"),
    "stream.mixed": ("{stream}, {share} reads", "{stream}（読み出し{share}）"),
    "stream.role": ("{name} ({stream})", "{name}（{stream}）"),
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
    "name.sata": ("SATA", "SATA"),
    "name.nvme": ("NVMe", "NVMe"),
    "name.pcie": ("PCI Express", "PCI Express"),
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
    "fact.work": ("workload", "ワークロード"),
    "fact.storage_size": ("storage size", "ストレージの容量"),
    "fact.duration": ("phase length", "フェーズの長さ"),
    "fact.history": ("preceding phases of the run", "同じ実行内で先行するフェーズ"),
    "fact.study": ("study", "スタディ"),
    "fact.unknown": ("workload and environment", "ワークロードと実行環境"),
    "fact.model": ("device model", "デバイスのモデル"),
    "fact.seed": ("seed", "シード"),
    "fact.interval": ("recording interval", "記録間隔"),
    "fact.slow": ("slow motion", "スローモーション"),
    "fact.core": ("simulation core", "シミュレーションのコア"),
    "fact.tameshi": ("Tameshi", "Tameshi"),
    "fact.python": ("Python", "Python"),
    "fact.tool": ("tool", "ツール"),
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
    "fact.device.model": ("device model number", "デバイスの型番"),
    "fact.device.firmware": ("firmware", "ファームウェア"),
    "fact.device.size_bytes": ("device size", "デバイスの容量"),
    "fact.device.rotational": ("rotational", "回転式"),
    "fact.device.virtual": ("virtual device", "仮想デバイス"),
    "fact.device.members": ("member devices", "構成デバイス"),
    "fact.device.logical_block_bytes": ("logical block", "論理ブロック"),
    "fact.device.physical_block_bytes": ("physical block", "物理ブロック"),
    "fact.device.serial": ("serial number", "シリアル番号"),
    "fact.device.backing_file": ("backing file", "バッキングファイル"),
    "fact.device.name": ("device name", "デバイス名"),
    "fact.device.scheduler": ("I/O scheduler", "I/Oスケジューラ"),
    "fact.device.write_cache": ("write cache", "書き込みキャッシュ"),
    "fact.device.requests": ("queue length (nr_requests)", "キュー長（nr_requests）"),
    "fact.device.nomerges": ("merging disabled (nomerges)", "結合の抑止（nomerges）"),
    "fact.device.iostats": ("I/O statistics enabled (iostats)", "I/O統計（iostats）"),
    "fact.other": ("other", "その他"),
    # comparison
    "compare.title": ("Comparison of A and B", "AとBの比較"),
    "compare.several": ("Comparison with A", "Aとの比較"),
    "compare.of_side": ("{side}: {verdict}", "{side}：{verdict}"),
    "compare.pairs": (
        "More on two of them: tameshi compare A B.",
        "2つの比較の詳細：tameshi compare A B。",
    ),
    "compare.side": ("{side}: {path} — {study}", "{side}：{path} — {study}"),
    "compare.verdict": ("{level}: {because}.", "{level}：{because}。"),
    "compare.not_decided": (
        "Incomparable results are not judged: the figures below prove nothing about A and B.",
        "比較できないため判定しない。以下の数値はAとBの優劣を示さない。",
    ),
    "compare.counts": (
        "B compared with A, {total} comparisons: {better} better, {same} same, {worse} worse, "
        "{undecided} undecided, {not_judged} not judged.",
        "Aに対するB、比較{total}件：良い{better}、同じ{same}、悪い{worse}、未決{undecided}、判"
        "定せず{not_judged}。",
    ),
    "compare.rule": (
        "Same: the 95 % interval of B ÷ A lies between {low} and {high}. Better or worse: it "
        "excludes 1. Undecided: neither, or no interval.",
        "「同じ」はB ÷ Aの95 %区間が{low}から{high}に収まること、「良い」「悪い」は区間が1を含"
        "まないこと、「未決」はそのどちらでもないか区間がないこと。",
    ),
    "compare.chance": (
        "{tested} comparisons have an interval. Without any real difference, about {expected}"
        " of them would exclude 1 by chance (1 in 20). {found} are better or worse; {firm} of "
        "these remain after correction for multiple comparisons (Holm), the others are marked "
        "*.",
        "うち{tested}件に区間がある。実際の差がまったくなくても、約{expected}件は偶然に1を含ま"
        "なくなる（20件に1件）。「良い」「悪い」は{found}件で、多重比較の補正（Holm法）後も残る"
        "のは{firm}件。残りには*を付けた。",
    ),
    "compare.lone": (
        "{lone} rest on a single run of a real machine. Their intervals exclude the variation "
        "between runs, so none counts as certain (*). Repeat the runs.",
        "{lone}件は実機での1回の実行による。区間に実行間のばらつきが含まれないため、確かとは数"
        "えない（*）。実行を繰り返すこと。",
    ),
    "compare.equal": ("Equal on both sides: {facts}.", "両者で同じもの：{facts}。"),
    "compare.only": (
        "Cells on one side only: {a} in A, {b} in B.",
        "片方だけにあるセル：A {a}件、B {b}件。",
    ),
    "compare.by_subject": ("{facts} ({subject})", "{facts}（{subject}）"),
    "level.comparable": ("Comparable", "比較可能"),
    "level.differences": ("Comparable, with differences", "比較可能（相違あり）"),
    "level.incomparable": ("Incomparable", "比較不可"),
    "because.nothing": ("workload and environment are equal", "ワークロードと実行環境は同じ"),
    "because.asked": (
        "only the intended change differs ({question})",
        "意図した変更だけが異なる（{question}）",
    ),
    "because.facts": ("{facts} may affect the result", "{facts}が結果に影響しうる"),
    "because.broken": ("{facts} differ", "{facts}が異なる"),
    "because.some_cells": (
        "{broken} of {of} cells are not judged, because {facts} differ",
        "{of}セル中{broken}セルは、{facts}が異なるため判定しない",
    ),
    "because.unknown": (
        "a results.json alone has no workload and environment; compare the study folders",
        "results.jsonだけではワークロードと実行環境がわからない。スタディのフォルダー同士を比較"
        "すること",
    ),
    "because.no_cells": ("no common cell", "共通のセルがない"),
    "because.no_world": (
        "no common world; use --world A:B to compare two different worlds",
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
    "effect.question": ("intended change", "意図した変更"),
    "effect.may": ("may affect the result", "影響しうる"),
    "effect.none": ("no effect", "影響なし"),
    "section.differences": ("Differences", "相違点"),
    "section.ratios": ("Results by cell", "セルごとの比較"),
    "section.changes": ("Largest changes", "大きな変化"),
    "table.differences": ("Differences, most serious first", "相違点。重大なものから順"),
    "table.changes": ("Largest changes", "変化の大きいもの"),
    "table.ratios": ("B ÷ A; 95 % intervals in parentheses", "B ÷ A。括弧内は95 %区間"),
    "column.fact": ("Fact", "項目"),
    "column.effect": ("Effect", "影響"),
    "column.throughput": ("Throughput", "スループット"),
    "column.study": ("study", "スタディ"),
    "table.several": ("Figures, and ratios to A", "値とAに対する比"),
    "column.b_to_a": ("B ÷ A", "B ÷ A"),
    "column.outcome": ("B is", "Bは"),
}
