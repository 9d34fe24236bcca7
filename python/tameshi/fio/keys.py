"""Table of all of fio's keys and their treatment; no key is ignored silently. tidy: table."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace

from tameshi.core.errors import BadInput
from tameshi.fio.jobfile import Setting


def _words(text: str) -> list[str]:
    return text.split()


ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "ba": "blockalign",
    "blocksize_range": "bsrange",
    "blocksize_unaligned": "bs_unaligned",
    "iodepth_batch_submit": "iodepth_batch",
    "iodepth_batch_complete": "iodepth_batch_complete_min",
    "io_limit": "io_size",
    "fill_fs": "fill_device",
    "fileoffset": "offset",
    "nr_files": "nrfiles",
    "timeout": "runtime",
    "iomem": "mem",
    "ratemin": "rate_min",
    "ratecycle": "rate_cycle",
    "wait_for_previous": "stonewall",
    "disable_bw": "disable_bw_measurement",
    "ss": "steadystate",
    "ss_dur": "steadystate_duration",
    "ss_ramp": "steadystate_ramp_time",
    "ss_interval": "steadystate_check_interval",
    "threads": "thread",
    "fadvise": "fadvise_hint",
}

BARE = frozenset(
    _words("""
    bs_unaligned exitall exitall_on_error fixedbufs group_reporting hipri new_group norandommap
    refill_buffers registerfiles sqthread_poll stonewall thread time_based userspace_reap
    verify_only zero_buffers
    """)
)
"""Keys that take no value from the next argument of a command line."""

TRANSLATED = frozenset(
    _words("""
    allrandrepeat blockalign bs bsrange bssplit buffer_compress_percentage buffered bwavgtime
    clat_percentiles cpumask cpus_allowed cpus_allowed_policy dedupe_percentage description direct
    continue_on_error create_on_open donorname exit_what exitall fallocate ignore_error
    directory do_verify end_fsync fdatasync filename filename_format filesize flow flow_id fsync
    fsync_on_close
    group_reporting hipri inplace invalidate io_size iodepth ioengine iopsavgtime kb_base
    lat_percentiles
    latency_percentile latency_run latency_target latency_window log_avg_msec log_hist_coarseness
    log_hist_msec log_offset loops max_latency name new_group norandommap nrfiles numa_cpu_nodes
    number_ios numjobs offset offset_increment per_job_logs percentage_random percentile_list
    ramp_time randrepeat randseed random_distribution rate rate_cycle rate_iops rate_iops_min
    rate_min rate_process runtime rw rwmixread rwmixwrite size startdelay steadystate
    steadystate_check_interval steadystate_duration steadystate_ramp_time stonewall sync thinktime
    thinktime_blocks thinktime_iotime thread time_based verify wait_for write_bw_log write_hist_log
    write_iops_log write_lat_log zero_buffers zonemode zonerange zonesize zoneskip
    """)
)
"""Keys that `job.py` and `translate.py` read."""

NOTED = {
    "iodepth_batch": "the generator always submits requests in pairs",
    "iodepth_batch_complete_min": "the generator reaps each completion at once",
    "iodepth_batch_complete_max": "the generator reaps every completion available",
    "iodepth_low": "the generator refills its queue after each completion",
    "io_submit_mode": "arrivals at a rate never wait for one another, as with `offload`",
    "fixedbufs": "buffers are always registered with the kernel, if it allows that",
    "registerfiles": "files are always registered with the kernel, if it allows that",
    "nonvectored": "requests are never vectored",
    "force_async": "the kernel decides",
    "userspace_reap": "completions are always taken from the ring without a system call",
    "thread": "each job is always a thread",
    "stat_type": "fstatat reads the status of a file",
    "gtod_reduce": "every latency is recorded",
    "gtod_cpu": "each thread reads the clock itself",
    "clocksource": "the clock is CLOCK_MONOTONIC",
    "disable_lat": "every latency is recorded",
    "disable_clat": "every latency is recorded",
    "disable_slat": "every latency is recorded",
    "disable_bw_measurement": "bandwidth is recorded in every interval",
    "slat_percentiles": "submission latency has a mean and extremes, but no percentiles",
    "disk_util": "the disk is always sampled",
    "significant_figures": "affects only fio's text output; JSON has all digits",
    "unit_base": "affects only fio's text output",
    "refill_buffers": "written data never repeats unless requested",
    "scramble_buffers": "written data never repeats unless requested",
    "dedupe_mode": (
        "duplicates are one of sixteen blocks: the share of duplicates is the same, their "
        "variety smaller"
    ),
    "dedupe_working_set_percentage": (
        "duplicates are one of sixteen blocks: the share of duplicates is the same, their "
        "variety smaller"
    ),
    "dedupe_global": "duplicates are always shared by all jobs",
    "fill_device": "a job fills what `size` says, or an existing device",
    "flow_sleep": "a job ahead of the others checks again after 20 us",
    "thinktime_blocks_type": "jobs with a think time have one request in flight",
    "thinktime_spin": "requests keep their schedule; a pause leaves the processor idle",
    "verify_backlog": "a last phase reads back all written blocks",
    "verify_backlog_batch": "a last phase reads back all written blocks",
    "verify_async_cpus": "blocks are verified by the thread that read them",
    "verify_interval": "each 4 KiB carries its own stamp",
    "verify_offset": "the stamp is at the start of its 4 KiB",
    "verify_pattern": "each 4 KiB carries a stamp and a checksum, as good as a pattern",
    "buffer_compress_chunk": "each 4 KiB is compressible by itself",
    "random_generator": "offsets come from named, seeded generators",
    "softrandommap": "accessing each block once needs no map here",
    "overwrite": "files are written in full before the run, so that every write overwrites",
    "create_serialize": "files are laid out one after the other",
    "create_fsync": "files are synced after they are laid out",
    "allow_file_create": "the guard decides which files may be created",
    "allow_mounted_write": "the guard always refuses mounted devices",
    "openfiles": "every file stays open",
    "unlink": "files created by this command are removed at its end, unless --keep is given",
    "unique_filename": "applies only to fio's client and server mode",
    "fadvise_hint": "the kernel gets no advice",
    "mem": "buffers are anonymous memory",
    "iomem_align": "buffers begin at a page",
    "hugepage-size": "buffers are anonymous memory",
    "rate_ignore_thinktime": "a rate and a think time exclude each other",
    "log_entries": "records grow without limit",
    "log_compression": "logs are plain text",
    "log_store_compressed": "logs are plain text",
    "block_error_percentiles": "applies only to the mtd engine",
    "serialize_overlap": "requests in flight may overlap, as those of several jobs do",
    "verify_fatal": "a block that fails verification always fails the run",
    "verify_async": "blocks are verified by the thread that read them",
    "verify_dump": "a wrong block is reported by its offset and left unchanged",
    "verify_state_save": "the record's journal always lists acknowledged writes",
    "error_dump": "errors are always reported in full",
    "exitall_on_error": "an error always ends every job",
    "eta": "progress is shown where standard error is a terminal, in plain lines elsewhere",
    "eta-newline": "progress is shown where standard error is a terminal, in plain lines elsewhere",
    "eta-interval": "progress is shown where standard error is a terminal, in plain lines "
    "elsewhere",
    "warnings-fatal": "unknown keys are always refused",
    "max-jobs": "no limit of this kind exists",
}
"""Accepted keys without effect, each with the reason."""

COMMANDS = {
    "exec_prerun": "it runs a command",
    "exec_postrun": "it runs a command",
    "program": "it runs a command",
    "arguments": "it prepares a command",
    "std_redirect": "it prepares a command",
    "grace_time": "it prepares a command",
    "trigger": "it runs a command",
    "trigger-file": "it prepares a command",
    "trigger-remote": "it runs a command",
    "profile": "it selects a workload built into fio",
}
"""Keys that run commands, always refused."""

_REPLAY = "trace replay is not supported yet"
_ZONES = "zoned devices are not supported"
_SPREAD = "a job works on one file"
_PLACE = "memory comes from the node of the processor that first touches it"
_PRIORITY = "requests have no priority"
_ENGINE = "it belongs to an engine that is not supported"
_TRIMMED = "trims are a kind of load: rw=trim, randtrim, trimwrite, randtrimwrite"
_EARLIER = "`tameshi verify` checks the writes of an earlier run by their journal"
_NETWORK = "fio's client and server mode is not supported"

REFUSED = {
    "atomic": "atomic writes are not supported yet",
    "bs_unaligned": "a request begins at a multiple of its own length",
    "bs_is_seq_rand": "lengths depend on the direction, not on the order",
    "offset_align": "offsets are not scrambled",
    "rw_sequencer": "a sequential job never goes back",
    "buffer_pattern": "written data is random, or of one byte where it compresses",
    "cmdprio": _PRIORITY,
    "cmdprio_bssplit": _PRIORITY,
    "cmdprio_class": _PRIORITY,
    "cmdprio_percentage": _PRIORITY,
    "prio": _PRIORITY,
    "prioclass": _PRIORITY,
    "log_prio": _PRIORITY,
    "nice": _PRIORITY,
    "cgroup": "processes stay in their control group",
    "cgroup_nodelete": "processes stay in their control group",
    "cgroup_weight": "processes stay in their control group",
    "uid": "nothing runs as another user",
    "gid": "nothing runs as another user",
    "numa_mem_policy": _PLACE,
    "file_append": "a file is as long as its job needs",
    "file_service_type": _SPREAD,
    "opendir": _SPREAD,
    "lockfile": "jobs on one file don't wait for one another",
    "lockmem": "no memory is locked",
    "pre_read": "nothing is preloaded before the run",
    "create_only": "files are created for a run",
    "unlink_each_loop": "a file lasts as long as the run",
    "write_barrier": "Linux has no barrier writes any more",
    "sync_file_range": "only whole files are synced: fsync, fdatasync, sync",
    "hipri_percentage": "polling applies to all completions of a job or to none",
    "sqthread_poll": "kernel-side polling of submissions is not supported",
    "sqthread_poll_cpu": "kernel-side polling of submissions is not supported",
    "nowait": "a request that would block always waits",
    "readfua": "reads cannot be forced to the medium",
    "writefua": "use `sync=dsync`: past the page cache it is the same request",
    "stream_id": _ENGINE,
    "write_hint": "writes carry no hint",
    "ioscheduler": "system settings stay unchanged; `tameshi doctor` shows them",
    "log_max_value": "the rows of a log are means over an interval",
    "log_unix_epoch": "times in logs count from the start of the run",
    "log_alternate_epoch": "times in logs count from the start of the run",
    "log_alternate_epoch_clock_id": "times in logs count from the start of the run",
    "log_compression_cpus": "logs are plain text",
    "stats": "every job is recorded",
    "unified_rw_reporting": "reads, writes and trims are always reported separately",
    "write_iolog": _REPLAY,
    "read_iolog": _REPLAY,
    "read_iolog_chunked": _REPLAY,
    "merge_blktrace_file": _REPLAY,
    "merge_blktrace_iters": _REPLAY,
    "merge_blktrace_scalars": _REPLAY,
    "replay_align": _REPLAY,
    "replay_no_stall": _REPLAY,
    "replay_redirect": _REPLAY,
    "replay_scale": _REPLAY,
    "replay_skip": _REPLAY,
    "replay_time_scale": _REPLAY,
    "zonecapacity": _ZONES,
    "read_beyond_wp": _ZONES,
    "max_open_zones": _ZONES,
    "job_max_open_zones": _ZONES,
    "ignore_zone_limits": _ZONES,
    "zone_reset_threshold": _ZONES,
    "zone_reset_frequency": _ZONES,
    "experimental_verify": _EARLIER,
    "verify_only": _EARLIER,
    "verify_state_load": _EARLIER,
    "trim_backlog": _TRIMMED,
    "trim_backlog_batch": _TRIMMED,
    "trim_percentage": _TRIMMED,
    "trim_verify_zero": _TRIMMED,
    "client": _NETWORK,
    "server": _NETWORK,
    "remote-config": _NETWORK,
    "daemonize": "a command ends when its work is done",
    "terse-version": "terse output is not supported; use --output-format=json",
    "minimal": "terse output is not supported; use --output-format=json",
    "append-terse": "terse output is not supported; use --output-format=json",
    "status-interval": "progress goes to standard error; results come at the end",
    "bandwidth-log": "use `write_bw_log`",
    "aux-path": "use --directory and the prefixes of the logs",
} | {
    key: _ENGINE
    for key in _words("""
    bindname blocksize_fixed busy_poll busy_wait_polling chunk_size clientname clustername cmd_type
    cont cpuchunks cpuload cpumode cuda_io exit_on_io_done
    gpu_dev_id gpu_dev_ids hdfsdirectory hostname http_host http_mode http_pass http_s3_key
    http_s3_keyid http_s3_region http_s3_sse_customer_algorithm http_s3_sse_customer_key
    http_s3_storage_class http_swift_auth_token http_user http_verbose https interface
    listen serverip direct_write_to_pmem mss namenode nfs_url nodelay object_class pingpong
    pool port protocol rbdname sg_write_mode
    skip_bad touch_objects ttl uri verb volume brick window_size xnvme_admin xnvme_async
    xnvme_dev_nsid xnvme_iovec xnvme_mem xnvme_sync read_iops
    """)
}
"""Unsupported keys, each with the reason."""

AT_DEFAULT = dict.fromkeys(
    _words("""
    atomic bs_is_seq_rand bs_unaligned cgroup_nodelete cmdprio cmdprio_class cmdprio_percentage
    create_only experimental_verify file_append ignore_zone_limits job_max_open_zones lockmem
    log_alternate_epoch log_alternate_epoch_clock_id log_max_value log_prio log_unix_epoch
    max_open_zones nice nowait offset_align pre_read prio prioclass read_beyond_wp
    read_iolog_chunked readfua replay_align replay_no_stall sqthread_poll status-interval
    trim_backlog trim_backlog_batch trim_percentage unlink_each_loop verify_only
    verify_state_load write_barrier writefua zone_reset_frequency zone_reset_threshold zonecapacity
    """),
    ("0", "false"),
) | {
    "file_service_type": ("roundrobin",),
    "hipri_percentage": ("100",),
    "lockfile": ("none",),
    "numa_mem_policy": ("default",),
    "replay_scale": ("1",),
    "replay_time_scale": ("100",),
    "rw_sequencer": ("sequential",),
    "stats": ("1", "true"),
    "trim_verify_zero": ("0", "1"),
    "unified_rw_reporting": ("none", "0"),
    "write_hint": ("none",),
}
"""Values of unsupported keys that ask for nothing: fio's defaults."""

UNSET_AT_ZERO = frozenset(
    _words("""
    io_size latency_target max_latency number_ios rate rate_iops rate_iops_min rate_min runtime
    size thinktime thinktime_iotime zonesize
    """)
)
"""Keys that are left out by the value 0."""

ENGINES = {
    "sync": "sync",
    "psync": "sync",
    "vsync": "sync",
    "pvsync": "sync",
    "pvsync2": "sync",
    "mmap": "",
    "libaio": "async",
    "posixaio": "async",
    "io_uring": "async",
    "falloc": "sync",
    "ftruncate": "sync",
    "e4defrag": "sync",
    "filecreate": "sync",
    "filestat": "sync",
    "filedelete": "sync",
}
"""Engines whose requests the generator can issue, synchronous or asynchronous."""

CALLS = {
    "falloc": "allocate",
    "ftruncate": "truncate",
    "e4defrag": "move_extents",
    "filecreate": "create",
    "filestat": "stat",
    "filedelete": "delete",
}
"""Engines of file system calls, with the calls' names in a study."""
IN_DIRECTORY = ("filecreate", "filestat", "filedelete")
"""Engines whose requests address one file each."""


def known_engine(setting: Setting) -> str:
    """Return an engine's name; raise `BadInput` for an unsupported one."""
    engine = setting.value or ""
    if ENGINES.get(engine):
        return engine
    reasons = {
        "exec": "it runs commands",
        "mmap": "files are not mapped into memory",
        "null": "it needs a file; `--world simulated --device null` has a drive with zero latency",
    }
    raise BadInput(
        (
            "this engine is not supported: "
            f"{reasons.get(engine, 'no request of this kind is implemented')}"
        ),
        where=setting.where,
        key=setting.key,
        found=engine or "no value",
        accepted=[name for name, kind in ENGINES.items() if kind],
    )


def known(setting: Setting) -> Setting:
    """Return the setting under its main name; raise `BadInput` for a refused or unknown key.

    A refused key is accepted at fio's default.
    """
    key = ALIASES.get(setting.key, setting.key)
    if key in COMMANDS:
        message = f"this key is always refused: {COMMANDS[key]}"
        raise BadInput(message, where=setting.where, key=setting.key)
    if setting.unset:
        message = f"the environment variable {setting.unset} is not set"
        hint = f"Set it, if need be to nothing: {setting.unset}= tameshi fio …"
        raise BadInput(message, where=setting.where, key=setting.key, hint=hint)
    if key in TRANSLATED or key in NOTED or setting.value in AT_DEFAULT.get(key, ()):
        return replace(setting, key=key, alias=setting.key)
    if key in REFUSED:
        message = f"this key is not supported: {REFUSED[key]}"
        raise BadInput(message, where=setting.where, key=setting.key)
    close = difflib.get_close_matches(setting.key, every_key(), n=1)
    hint = f"Did you mean {close[0]}?" if close else ""
    raise BadInput("fio has no key of this name", where=setting.where, key=setting.key, hint=hint)


def every_key() -> Sequence[str]:
    """Return every known name, including refused ones."""
    return sorted({*ALIASES, *TRANSLATED, *NOTED, *COMMANDS, *REFUSED})
