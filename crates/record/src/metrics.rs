//! The metric registry: the one table of what is recorded and estimated. tidy: table
//!
//! A series is (source, subject, metric). Servers map to these names, simulated engines emit them, reports read them.

use serde::Serialize;

/// How values of a metric combine over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A count within the interval.
    Counter,
    /// A state at the interval's end.
    Gauge,
    /// The largest within the interval.
    Peak,
    /// Per second, estimated over a window.
    Rate,
    /// A latency statistic, estimated over a window.
    Latency,
}

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither.
    Neither,
}

/// One metric.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Metric {
    /// Engine-neutral name.
    pub name: &'static str,
    /// Unit of its values.
    pub unit: &'static str,
    /// How values combine.
    pub kind: Kind,
    /// Which way is better.
    pub better: Better,
    /// Label in English.
    pub en: &'static str,
    /// Label in Japanese.
    pub ja: &'static str,
}

const fn m(
    name: &'static str,
    unit: &'static str,
    kind: Kind,
    better: Better,
    en: &'static str,
    ja: &'static str,
) -> Metric {
    Metric { name, unit, kind, better, en, ja }
}

use Better::{Higher, Lower, Neither};
use Kind::{Counter, Gauge, Latency, Peak, Rate};

/// Every metric.
pub const METRICS: &[Metric] = &[
    m("read.count", "1", Counter, Neither, "reads", "読み取り回数"),
    m("read.bytes", "B", Counter, Neither, "bytes read", "読み取りバイト数"),
    m("read.latency_sum", "ns", Counter, Neither, "sum of read latencies", "読み取り遅延の合計"),
    m("write.count", "1", Counter, Neither, "writes", "書き込み回数"),
    m("write.bytes", "B", Counter, Neither, "bytes written", "書き込みバイト数"),
    m("write.latency_sum", "ns", Counter, Neither, "sum of write latencies", "書き込み遅延の合計"),
    m("sync.count", "1", Counter, Neither, "syncs", "同期回数"),
    m("sync.latency_sum", "ns", Counter, Neither, "sum of sync latencies", "同期遅延の合計"),
    m("commit.count", "1", Counter, Neither, "commits", "コミット回数"),
    m("commit.latency_sum", "ns", Counter, Neither, "sum of commit latencies", "コミット遅延の合計"),
    m("trim.count", "1", Counter, Neither, "trims", "TRIM回数"),
    m("trim.bytes", "B", Counter, Neither, "bytes trimmed", "TRIMしたバイト数"),
    m("trim.latency_sum", "ns", Counter, Neither, "sum of trim latencies", "TRIM遅延の合計"),
    m("transaction.count", "1", Counter, Neither, "transactions", "トランザクション数"),
    m("transaction.latency_sum", "ns", Counter, Neither, "sum of transaction latencies", "トランザクション遅延の合計"),
    m("transaction.retries", "1", Counter, Lower, "transactions tried again", "再試行の回数"),
    m("transaction.rolled_back", "1", Counter, Neither, "transactions meant to be rolled back", "意図したロールバック"),
    m("transaction.failed", "1", Counter, Lower, "transactions that failed", "失敗したトランザクション"),
    m("transaction.ambiguous", "1", Counter, Lower, "commits without an answer", "応答のないコミット"),
    m("statement.count", "1", Counter, Neither, "statements", "ステートメント数"),
    m("statement.reads", "1", Counter, Neither, "statements that read", "読み取るステートメント数"),
    m("statement.writes", "1", Counter, Neither, "statements that change", "変更するステートメント数"),
    m("statement.others", "1", Counter, Neither, "begins, commits and rollbacks", "開始・コミット・ロールバックの数"),
    m(
        "statement.ended",
        "1",
        Counter,
        Neither,
        "transactions ended, single statements included",
        "終了したトランザクション(単独の文を含む)",
    ),
    m("load.reconnects", "1", Counter, Lower, "connections made anew", "再接続の回数"),
    m("load.late", "1", Counter, Lower, "late starts", "開始遅れの回数"),
    m("load.failed", "1", Counter, Lower, "failed commands", "失敗したコマンド"),
    m("load.unserved", "1", Counter, Lower, "unserved requests", "未処理の要求"),
    m("load.cpu_ns", "ns", Counter, Lower, "processor time of the generator", "負荷生成のCPU時間"),
    m("load.service_ns_sum", "ns", Counter, Lower, "sum of latencies from submission", "発行からの遅延の合計"),
    m("load.started", "1", Counter, Neither, "scheduled starts", "予定された開始の回数"),
    m("load.slip_ns_sum", "ns", Counter, Lower, "sum of delays of the start", "開始の遅れの合計"),
    m("load.slip_ns_max", "ns", Peak, Lower, "longest delay of the start", "開始の遅れの最大"),
    m("load.lag_ns_sum", "ns", Counter, Lower, "the generator's own part of them", "開始の遅れのうち負荷生成による分"),
    m("load.lag_ns_max", "ns", Peak, Lower, "longest delay by the generator", "負荷生成による開始の遅れの最大"),
    m("load.reaps", "1", Counter, Neither, "waits that brought completions", "完了を受け取った待機の回数"),
    m("load.reap_ns_sum", "ns", Counter, Lower, "time the generator did not wait", "負荷生成が待機しなかった時間"),
    m("load.reap_ns_max", "ns", Peak, Lower, "longest time it did not wait", "負荷生成が待機しなかった時間の最大"),
    m("time.queue_ns_sum", "ns", Counter, Lower, "time waiting for other requests", "他の要求を待った時間"),
    m("time.host_ns_sum", "ns", Counter, Lower, "time in the host", "ホストでの時間"),
    m("time.link_ns_sum", "ns", Counter, Lower, "time on the link", "リンク上の時間"),
    m("time.controller_ns_sum", "ns", Counter, Lower, "time in the controller", "コントローラでの時間"),
    m("time.media_ns_sum", "ns", Counter, Lower, "time at the medium", "媒体での時間"),
    m(
        "time.gc_ns_sum",
        "ns",
        Counter,
        Lower,
        "time waiting for garbage collection",
        "ガベージコレクションを待った時間",
    ),
    m("time.rebuild_ns_sum", "ns", Counter, Lower, "time waiting for a rebuild", "リビルドを待った時間"),
    m("rebuild.bytes", "B", Counter, Neither, "bytes that rebuilds wrote", "リビルドが書き込んだバイト数"),
    m("busy.media_ns", "ns", Counter, Neither, "time the media worked", "媒体の稼働時間"),
    m("capacity.media_ns", "ns", Counter, Neither, "time the media could have worked", "媒体の稼働可能時間"),
    m("busy.channels_ns", "ns", Counter, Neither, "time the channels worked", "チャネルの稼働時間"),
    m("capacity.channels_ns", "ns", Counter, Neither, "time the channels could have worked", "チャネルの稼働可能時間"),
    m("busy.controller_ns", "ns", Counter, Neither, "time the controller worked", "コントローラの稼働時間"),
    m(
        "capacity.controller_ns",
        "ns",
        Counter,
        Neither,
        "time the controller could have worked",
        "コントローラの稼働可能時間",
    ),
    m("busy.link_ns", "ns", Counter, Neither, "time the link worked", "リンクの稼働時間"),
    m("capacity.link_ns", "ns", Counter, Neither, "time the link could have worked", "リンクの稼働可能時間"),
    m("busy.cores_ns", "ns", Counter, Neither, "time the processors worked", "CPUの稼働時間"),
    m("capacity.cores_ns", "ns", Counter, Neither, "time the processors could have worked", "CPUの稼働可能時間"),
    m("busy.lock_ns", "ns", Counter, Neither, "time the lock worked", "ロックの稼働時間"),
    m("capacity.lock_ns", "ns", Counter, Neither, "time the lock could have worked", "ロックの稼働可能時間"),
    m("busy.hypervisor_ns", "ns", Counter, Neither, "time the hypervisor worked", "ハイパーバイザの稼働時間"),
    m(
        "capacity.hypervisor_ns",
        "ns",
        Counter,
        Neither,
        "time the hypervisor could have worked",
        "ハイパーバイザの稼働可能時間",
    ),
    m("read.iops", "1/s", Rate, Higher, "read IOPS", "読み取りIOPS"),
    m("read.bandwidth", "B/s", Rate, Higher, "read bandwidth", "読み取り帯域"),
    m("read.latency.mean", "ns", Latency, Lower, "mean read latency", "読み取り遅延の平均"),
    m("read.latency.p50", "ns", Latency, Lower, "median read latency", "読み取り遅延の中央値"),
    m("read.latency.p99", "ns", Latency, Lower, "read latency, 99th percentile", "読み取り遅延 p99"),
    m("read.latency.p999", "ns", Latency, Lower, "read latency, 99.9th percentile", "読み取り遅延 p99.9"),
    m("read.latency.stddev", "ns", Latency, Lower, "standard deviation of read latency", "読み取り遅延の標準偏差"),
    m("read.latency.max", "ns", Latency, Lower, "longest read latency", "読み取り遅延の最大"),
    m("write.iops", "1/s", Rate, Higher, "write IOPS", "書き込みIOPS"),
    m("write.bandwidth", "B/s", Rate, Higher, "write bandwidth", "書き込み帯域"),
    m("write.latency.mean", "ns", Latency, Lower, "mean write latency", "書き込み遅延の平均"),
    m("write.latency.p50", "ns", Latency, Lower, "median write latency", "書き込み遅延の中央値"),
    m("write.latency.p99", "ns", Latency, Lower, "write latency, 99th percentile", "書き込み遅延 p99"),
    m("write.latency.p999", "ns", Latency, Lower, "write latency, 99.9th percentile", "書き込み遅延 p99.9"),
    m("write.latency.stddev", "ns", Latency, Lower, "standard deviation of write latency", "書き込み遅延の標準偏差"),
    m("write.latency.max", "ns", Latency, Lower, "longest write latency", "書き込み遅延の最大"),
    m("sync.rate", "1/s", Rate, Higher, "syncs per second", "毎秒の同期数"),
    m("sync.latency.mean", "ns", Latency, Lower, "mean sync latency", "同期遅延の平均"),
    m("sync.latency.p50", "ns", Latency, Lower, "median sync latency", "同期遅延の中央値"),
    m("sync.latency.p99", "ns", Latency, Lower, "sync latency, 99th percentile", "同期遅延 p99"),
    m("sync.latency.p999", "ns", Latency, Lower, "sync latency, 99.9th percentile", "同期遅延 p99.9"),
    m("sync.latency.stddev", "ns", Latency, Lower, "standard deviation of sync latency", "同期遅延の標準偏差"),
    m("sync.latency.max", "ns", Latency, Lower, "longest sync latency", "同期遅延の最大"),
    m("commit.rate", "1/s", Rate, Higher, "commits per second", "毎秒のコミット数"),
    m("commit.latency.mean", "ns", Latency, Lower, "mean commit latency", "コミット遅延の平均"),
    m("commit.latency.p50", "ns", Latency, Lower, "median commit latency", "コミット遅延の中央値"),
    m("commit.latency.p99", "ns", Latency, Lower, "commit latency, 99th percentile", "コミット遅延 p99"),
    m("commit.latency.p999", "ns", Latency, Lower, "commit latency, 99.9th percentile", "コミット遅延 p99.9"),
    m("commit.latency.stddev", "ns", Latency, Lower, "standard deviation of commit latency", "コミット遅延の標準偏差"),
    m("commit.latency.max", "ns", Latency, Lower, "longest commit latency", "コミット遅延の最大"),
    m("trim.iops", "1/s", Rate, Higher, "trim IOPS", "TRIMのIOPS"),
    m("trim.bandwidth", "B/s", Rate, Higher, "trim bandwidth", "TRIM帯域"),
    m("trim.latency.mean", "ns", Latency, Lower, "mean trim latency", "TRIM遅延の平均"),
    m("trim.latency.p50", "ns", Latency, Lower, "median trim latency", "TRIM遅延の中央値"),
    m("trim.latency.p99", "ns", Latency, Lower, "trim latency, 99th percentile", "TRIM遅延 p99"),
    m("trim.latency.p999", "ns", Latency, Lower, "trim latency, 99.9th percentile", "TRIM遅延 p99.9"),
    m("trim.latency.max", "ns", Latency, Lower, "longest trim latency", "TRIM遅延の最大"),
    m("transaction.rate", "1/s", Rate, Higher, "transactions per second", "毎秒のトランザクション数"),
    m("transaction.latency.mean", "ns", Latency, Lower, "mean response time", "応答時間の平均"),
    m("transaction.latency.p50", "ns", Latency, Lower, "median response time", "応答時間の中央値"),
    m("transaction.latency.p99", "ns", Latency, Lower, "response time, 99th percentile", "応答時間 p99"),
    m("transaction.latency.p999", "ns", Latency, Lower, "response time, 99.9th percentile", "応答時間 p99.9"),
    m("transaction.latency.max", "ns", Latency, Lower, "longest response time", "応答時間の最大"),
    m("statement.rate", "1/s", Rate, Higher, "statements per second (QPS)", "毎秒のステートメント数（QPS）"),
    m("transaction.tpmc", "1/min", Rate, Higher, "New-Order transactions per minute (TpmC)", "毎分のNew-Order数(TpmC)"),
    m("transaction.retry_rate", "1/s", Rate, Lower, "retries per second", "毎秒の再試行数"),
    m("transaction.failure_rate", "1/s", Rate, Lower, "failed transactions per second", "毎秒の失敗数"),
    m(
        "transaction.ambiguous_rate",
        "1/s",
        Rate,
        Lower,
        "commits without an answer per second",
        "毎秒の応答なしコミット数",
    ),
    m(
        "server.statement_rate",
        "1/s",
        Rate,
        Higher,
        "statements per second the server counted",
        "サーバーが数えた毎秒の文の数",
    ),
    m("server.select_rate", "1/s", Rate, Neither, "SELECT statements per second", "毎秒のSELECT数"),
    m("server.insert_rate", "1/s", Rate, Neither, "INSERT statements per second", "毎秒のINSERT数"),
    m("server.update_rate", "1/s", Rate, Neither, "UPDATE statements per second", "毎秒のUPDATE数"),
    m("server.delete_rate", "1/s", Rate, Neither, "DELETE statements per second", "毎秒のDELETE数"),
    m(
        "server.commit_rate",
        "1/s",
        Rate,
        Neither,
        "commits per second the server counted",
        "サーバーが数えた毎秒のコミット数",
    ),
    m("server.read_rate", "1/s", Rate, Neither, "reads per second by the server", "サーバーの毎秒の読み取り回数"),
    m("server.read_bandwidth", "B/s", Rate, Neither, "bytes the server read per second", "サーバーの読み取り帯域"),
    m("server.page_read_rate", "1/s", Rate, Neither, "pages read per second", "毎秒の読み取りページ数"),
    m("server.write_rate", "1/s", Rate, Neither, "writes per second by the server", "サーバーの毎秒の書き込み回数"),
    m("server.write_bandwidth", "B/s", Rate, Neither, "bytes the server wrote per second", "サーバーの書き込み帯域"),
    m("server.page_write_rate", "1/s", Rate, Neither, "pages written per second", "毎秒の書き込みページ数"),
    m("server.fsync_rate", "1/s", Rate, Neither, "fsyncs per second", "毎秒のfsync数"),
    m("server.log_bandwidth", "B/s", Rate, Neither, "bytes of log per second", "ログの書き込み帯域"),
    m("server.lock_wait_rate", "1/s", Rate, Lower, "waits for rows' locks per second", "毎秒の行ロック待ち数"),
    m("process.read_bandwidth", "B/s", Rate, Neither, "bytes a process read per second", "プロセスの読み取り帯域"),
    m("process.write_bandwidth", "B/s", Rate, Neither, "bytes a process wrote per second", "プロセスの書き込み帯域"),
    m("process.processors", "1", Rate, Lower, "processors a process kept busy", "プロセスが使用したCPU数"),
    m("disk.read_rate", "1/s", Rate, Neither, "reads per second at the disk", "ディスクの毎秒の読み取り回数"),
    m("disk.read_bandwidth", "B/s", Rate, Neither, "bytes the disk read per second", "ディスクの読み取り帯域"),
    m("disk.write_rate", "1/s", Rate, Neither, "writes per second at the disk", "ディスクの毎秒の書き込み回数"),
    m("disk.write_bandwidth", "B/s", Rate, Neither, "bytes the disk wrote per second", "ディスクの書き込み帯域"),
    m("disk.reads", "1", Counter, Neither, "reads the disk completed", "ディスクの読み取り回数"),
    m("disk.read_bytes", "B", Counter, Neither, "bytes the disk read", "ディスクの読み取りバイト数"),
    m("disk.read_merges", "1", Counter, Neither, "reads merged with others", "併合された読み取り回数"),
    m("disk.read_ns", "ns", Counter, Neither, "time of reads at the disk", "ディスクでの読み取り時間の合計"),
    m("disk.writes", "1", Counter, Neither, "writes the disk completed", "ディスクの書き込み回数"),
    m("disk.written_bytes", "B", Counter, Neither, "bytes the disk wrote", "ディスクの書き込みバイト数"),
    m("disk.write_merges", "1", Counter, Neither, "writes merged with others", "併合された書き込み回数"),
    m("disk.write_ns", "ns", Counter, Neither, "time of writes at the disk", "ディスクでの書き込み時間の合計"),
    m("disk.flushes", "1", Counter, Neither, "flushes the disk completed", "ディスクのフラッシュ回数"),
    m("flash.host_bytes", "B", Counter, Neither, "flash programmed for the host", "ホスト書き込みのプログラム量"),
    m(
        "flash.moved_bytes",
        "B",
        Counter,
        Lower,
        "flash programmed by garbage collection",
        "ガベージコレクションのプログラム量",
    ),
    m("flash.padded_bytes", "B", Counter, Lower, "flash left empty by flushes", "フラッシュ要求で空いた領域"),
    m("flash.physical_bytes", "B", Gauge, Neither, "flash, parity left out", "フラッシュ容量（パリティを除く）"),
    m("flash.logical_bytes", "B", Gauge, Neither, "flash that can be addressed", "アドレス可能な容量"),
    m("flash.mapped_bytes", "B", Gauge, Neither, "flash that holds something", "有効データの量"),
    m("flash.erased_bytes", "B", Gauge, Neither, "flash that is erased", "消去済みの量"),
    m("flash.life_bytes", "B", Gauge, Neither, "bytes that the cells still take", "残り書き込み可能量"),
    m("flash.cycles_mean_permille", "1/1000", Gauge, Lower, "mean cycles of a block", "平均書き換え回数"),
    m("flash.cycles_max", "1", Gauge, Lower, "cycles of the most worn block", "最大書き換え回数"),
    m("disk.busy_ns", "ns", Counter, Neither, "time the disk was busy", "ディスクのビジー時間"),
    m("disk.weighted_ns", "ns", Counter, Neither, "time requests spent at the disk", "ディスクでの要求時間の合計"),
    m("machine.cpu_user_ns", "ns", Counter, Neither, "processor time, user", "CPU時間(ユーザー)"),
    m("machine.cpu_system_ns", "ns", Counter, Neither, "processor time, kernel", "CPU時間(カーネル)"),
    m("machine.cpu_iowait_ns", "ns", Counter, Neither, "processor time, waiting for I/O", "CPU時間(I/O待ち)"),
    m("machine.cpu_idle_ns", "ns", Counter, Neither, "processor time, idle", "CPU時間(アイドル)"),
    m("process.cpu_user_ns", "ns", Counter, Lower, "process's processor time, user", "プロセスのCPU時間(ユーザー)"),
    m("process.cpu_system_ns", "ns", Counter, Lower, "process's processor time, kernel", "プロセスのCPU時間(カーネル)"),
    m("process.read_bytes", "B", Counter, Neither, "bytes the process read", "プロセスの読み取りバイト数"),
    m("process.written_bytes", "B", Counter, Neither, "bytes the process wrote", "プロセスの書き込みバイト数"),
    m("server.statements", "1", Counter, Neither, "statements the server answered", "サーバーが処理した文の数"),
    m("server.selects", "1", Counter, Neither, "SELECT statements", "SELECT文の数"),
    m("server.inserts", "1", Counter, Neither, "INSERT statements", "INSERT文の数"),
    m("server.updates", "1", Counter, Neither, "UPDATE statements", "UPDATE文の数"),
    m("server.deletes", "1", Counter, Neither, "DELETE statements", "DELETE文の数"),
    m("server.commits", "1", Counter, Neither, "commits the server counted", "サーバーが数えたコミット数"),
    m("server.rollbacks", "1", Counter, Neither, "rollbacks the server counted", "サーバーが数えたロールバック数"),
    m("server.page_requests", "1", Counter, Neither, "pages asked of the buffer pool", "バッファプールへのページ要求"),
    m(
        "server.page_misses",
        "1",
        Counter,
        Neither,
        "of them not in the buffer pool",
        "そのうちバッファプールになかった数",
    ),
    m("server.page_read_aheads", "1", Counter, Neither, "pages read ahead", "先読みしたページ数"),
    m("server.pages_read", "1", Counter, Neither, "pages the server read", "サーバーが読んだページ数"),
    m("server.pages_written", "1", Counter, Neither, "pages the server wrote", "サーバーが書いたページ数"),
    m("server.reads", "1", Counter, Neither, "reads the server issued", "サーバーの読み取り回数"),
    m("server.read_bytes", "B", Counter, Neither, "bytes the server read", "サーバーの読み取りバイト数"),
    m("server.writes", "1", Counter, Neither, "writes the server issued", "サーバーの書き込み回数"),
    m("server.written_bytes", "B", Counter, Neither, "bytes the server wrote", "サーバーの書き込みバイト数"),
    m("server.fsyncs", "1", Counter, Neither, "fsyncs of data files", "データファイルのfsync回数"),
    m("server.log_bytes", "B", Counter, Neither, "log bytes", "ログのバイト数"),
    m("server.log_writes", "1", Counter, Neither, "writes of the log", "ログの書き込み回数"),
    m("server.log_fsyncs", "1", Counter, Neither, "fsyncs of the log", "ログのfsync回数"),
    m(
        "server.doublewrite_pages",
        "1",
        Counter,
        Neither,
        "pages written against torn pages",
        "破損ページ対策で書いたページ数",
    ),
    m("server.checkpoints", "1", Counter, Neither, "checkpoints", "チェックポイント回数"),
    m("server.lock_waits", "1", Counter, Lower, "waits for a row's lock", "行ロック待ちの回数"),
    m("server.lock_wait_ns", "ns", Counter, Lower, "time waited for rows' locks", "行ロック待ちの時間"),
    m("server.deadlocks", "1", Counter, Lower, "deadlocks", "デッドロック数"),
    m(
        "server.pool_waits",
        "1",
        Counter,
        Lower,
        "times the buffer pool had no clean page",
        "バッファプールの空き待ち回数",
    ),
    m(
        "server.hit_ratio",
        "1",
        Gauge,
        Higher,
        "buffer pool hit ratio in the interval",
        "区間内のバッファプールヒット率",
    ),
    m("server.pool_bytes", "B", Gauge, Neither, "bytes in the buffer pool", "バッファプール内のバイト数"),
    m(
        "server.dirty_bytes",
        "B",
        Gauge,
        Neither,
        "dirty bytes in the buffer pool",
        "バッファプール内の未書き込みバイト数",
    ),
    m(
        "server.checkpoint_age_bytes",
        "B",
        Gauge,
        Neither,
        "log since the last checkpoint",
        "最後のチェックポイント以降のログ量",
    ),
    m("server.history", "1", Gauge, Neither, "undo history not yet purged", "未パージのundo履歴"),
    m("server.lock_waiting", "1", Gauge, Lower, "sessions waiting for a lock", "ロック待ちのセッション数"),
    m("server.threads_running", "1", Gauge, Neither, "threads at work", "実行中のスレッド数"),
    m("sampler.look_ns", "ns", Gauge, Lower, "time a look at the server took", "サーバー観測にかかった時間"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_one_row_and_both_languages() {
        let names: std::collections::BTreeSet<_> = METRICS.iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), METRICS.len());
        assert!(METRICS.iter().all(|metric| !metric.en.is_empty() && !metric.ja.is_ascii()));
    }
}
