"""Options of fio's results without bearing on their figures: of an ended process, or outside the
device."""

from __future__ import annotations

from collections.abc import Mapping

STAND_INS = dict.fromkeys(
    (
        *("windowsaio", "solarisaio", "io_uring_cmd", "rbd", "rados", "nbd", "xnvme", "libiscsi"),
        *("libblkio", "libzbc", "external:spdk"),
    ),
    "libaio",
)
"""Asynchronous engines that Tameshi cannot run, each with one of equal requests."""

IGNORED = frozenset(
    (
        # Commands, identity and placement of a process that has ended.
        *("exec_prerun", "exec_postrun", "program", "arguments", "std_redirect", "grace_time"),
        *("uid", "gid", "nice", "prio", "prioclass", "numa_mem_policy", "lockmem"),
        *("cgroup", "cgroup_nodelete", "cgroup_weight"),
        # Output next to the results.
        *("minimal", "append-terse", "terse-version", "status-interval", "bandwidth-log"),
        *("aux-path", "log_prio", "log_max_value", "log_unix_epoch", "log_alternate_epoch"),
        *("log_alternate_epoch_clock_id", "log_compression_cpus", "write_iolog"),
        # Service and machine of the run.
        *("client", "server", "remote-config", "daemonize"),
        *("clientname", "clustername", "pool", "rbdname", "busy_poll", "cmd_type", "uri"),
    )
)
"""Refused keys that ask for nothing in results that are only read."""


def without_bearing(options: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return a job's options without those that have no bearing, and these as written."""
    kept = {key: value for key, value in options.items() if key not in IGNORED}
    ignored = [f"{key}={value}" for key, value in options.items() if key in IGNORED]
    engine = kept.get("ioengine", "")
    if engine in STAND_INS:
        kept["ioengine"] = STAND_INS[engine]
        ignored.append(f"ioengine={engine}")
    return kept, ignored
