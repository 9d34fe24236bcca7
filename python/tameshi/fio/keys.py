"""Every key of fio's and what becomes of it here; nothing is ignored silently. tidy: table."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

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
"""What `job.py` and `translate.py` read."""

NOTED = {
    "iodepth_batch": "the generator hands requests over in pairs, whatever this says",
    "iodepth_batch_complete_min": "the generator takes each completion when it comes",
    "iodepth_batch_complete_max": "the generator takes every completion that is there",
    "iodepth_low": "the generator refills its queue with each completion",
    "io_submit_mode": "arrivals at a rate never wait for one another here, as `offload` asks",
    "fixedbufs": "buffers are registered with the kernel where it allows that, always",
    "registerfiles": "files are registered with the kernel where it allows that, always",
    "nonvectored": "requests are never vectored",
    "force_async": "the kernel decides",
    "userspace_reap": "completions are taken from the ring without a system call, always",
    "thread": "each job is a thread, always",
    "stat_type": "the status of a file is asked for by fstatat",
    "gtod_reduce": "every latency is recorded",
    "gtod_cpu": "each thread reads the clock itself",
    "clocksource": "the clock is CLOCK_MONOTONIC",
    "disable_lat": "every latency is recorded",
    "disable_clat": "every latency is recorded",
    "disable_slat": "every latency is recorded",
    "disable_bw_measurement": "bandwidth is recorded in every interval",
    "slat_percentiles": "submission has a mean and extremes, and no percentiles",
    "disk_util": "the disk is always sampled",
    "significant_figures": "of fio's text output only; JSON has every figure",
    "unit_base": "of fio's text output only",
    "refill_buffers": "what is written never repeats unless asked",
    "scramble_buffers": "what is written never repeats unless asked",
    "dedupe_mode": "repeated data are one of sixteen blocks: as many writes repeat, of fewer kinds",
    "dedupe_working_set_percentage": "repeated data are one of sixteen blocks: as many writes "
    "repeat, of fewer kinds",
    "dedupe_global": "what repeats is the same for all jobs, always",
    "fill_device": "a job fills what `size` says, or a device that is there",
    "flow_sleep": "a job that is ahead of the others looks again after 20 us",
    "thinktime_blocks_type": "jobs that think have one request at a time",
    "thinktime_spin": "requests start when they would; who thinks leaves the processor alone",
    "verify_backlog": "what was written is read back, all of it, in a phase of its own at the end",
    "verify_backlog_batch": "what was written is read back, all of it, in a phase of its own at "
    "the end",
    "verify_async_cpus": "blocks are verified by the thread that read them",
    "verify_interval": "each 4 KiB carries its own stamp",
    "verify_offset": "a stamp lies at the begin of its 4 KiB",
    "verify_pattern": "each 4 KiB carries a stamp and a checksum, which tell what a pattern tells",
    "buffer_compress_chunk": "compressible data is so in each 4 KiB",
    "random_generator": "offsets come from named, seeded generators",
    "softrandommap": "each block once needs no map here",
    "overwrite": "a file is written whole before the run, so that every write overwrites",
    "create_serialize": "files are laid out one after the other",
    "create_fsync": "a file that was laid out is made durable",
    "allow_file_create": "the guard decides what may be made",
    "allow_mounted_write": "the guard refuses what is mounted, whatever this says",
    "openfiles": "every file stays open",
    "unlink": "files that this command made are removed at its end, unless --keep is given",
    "unique_filename": "of fio's client and server only",
    "fadvise_hint": "the kernel is told nothing",
    "mem": "buffers are anonymous memory",
    "iomem_align": "buffers begin at a page",
    "hugepage-size": "buffers are anonymous memory",
    "rate_ignore_thinktime": "a rate and a think time exclude each other here",
    "log_entries": "records are written as they come and have no limit",
    "log_compression": "logs are plain text",
    "log_store_compressed": "logs are plain text",
    "block_error_percentiles": "of the mtd engine only",
    "serialize_overlap": "requests in flight may overlap, as those of several jobs do",
    "verify_fatal": "a block that can't be verified fails the run, always",
    "verify_async": "blocks are verified by the thread that read them",
    "verify_dump": "a wrong block is named by its offset and stays where it is",
    "verify_state_save": "what was written and acknowledged is in the record's journal, always",
    "error_dump": "an error is told in full",
    "exitall_on_error": "an error ends every job, always",
    "eta": "progress is shown where standard error is a terminal, in plain lines elsewhere",
    "eta-newline": "progress is shown where standard error is a terminal, in plain lines elsewhere",
    "eta-interval": "progress is shown where standard error is a terminal, in plain lines "
    "elsewhere",
    "warnings-fatal": "what is not understood is refused, always",
    "max-jobs": "there is no such limit",
}
"""Accepted, with a word on why nothing changes."""

COMMANDS = {
    "exec_prerun": "it runs a command",
    "exec_postrun": "it runs a command",
    "program": "it runs a command",
    "arguments": "it is for a command to run",
    "std_redirect": "it is for a command to run",
    "grace_time": "it is for a command to run",
    "trigger": "it runs a command",
    "trigger-file": "it is for a command to run",
    "trigger-remote": "it runs a command",
    "profile": "it stands for a workload that only fio knows",
}
"""Refused for good: a job file never runs anything."""

_REPLAY = "replaying a trace is not done yet"
_ZONES = "zoned devices are not driven"
_SPREAD = "a job works on one file"
_PLACE = "memory lies on the node of the processor that first touches it"
_PRIORITY = "requests carry no priority"
_ENGINE = "it belongs to an engine of fio's that is not carried out here"
_TRIMMED = "trims are a job's own kind of load: rw=trim, randtrim, trimwrite, randtrimwrite"
_EARLIER = "`tameshi verify` checks what an earlier run wrote, by its journal"
_NETWORK = "fio's client and server are not spoken"

REFUSED = {
    "atomic": "atomic writes are not asked for yet",
    "bs_unaligned": "a request begins at a multiple of its own length",
    "bs_is_seq_rand": "lengths are of reads and of writes, not of one order or another",
    "offset_align": "an offset is taken as it is",
    "rw_sequencer": "a sequential job never goes back",
    "buffer_pattern": "data to write is random, or of one byte where it compresses",
    "cmdprio": _PRIORITY,
    "cmdprio_bssplit": _PRIORITY,
    "cmdprio_class": _PRIORITY,
    "cmdprio_percentage": _PRIORITY,
    "prio": _PRIORITY,
    "prioclass": _PRIORITY,
    "log_prio": _PRIORITY,
    "nice": _PRIORITY,
    "cgroup": "processes stay in the group that they are in",
    "cgroup_nodelete": "processes stay in the group that they are in",
    "cgroup_weight": "processes stay in the group that they are in",
    "uid": "nothing runs as another user",
    "gid": "nothing runs as another user",
    "numa_mem_policy": _PLACE,
    "file_append": "a file is as long as its job needs",
    "file_service_type": _SPREAD,
    "opendir": _SPREAD,
    "lockfile": "jobs on one file don't wait for one another",
    "lockmem": "no memory is locked",
    "pre_read": "nothing is read before the run",
    "create_only": "files are made for a run",
    "unlink_each_loop": "a file lasts as long as the run",
    "write_barrier": "Linux has no barrier writes any more",
    "sync_file_range": "only whole files are made durable: fsync, fdatasync, sync",
    "hipri_percentage": "all completions of a job are polled for, or none",
    "sqthread_poll": "the kernel polls no queue for this generator",
    "sqthread_poll_cpu": "the kernel polls no queue for this generator",
    "nowait": "a request that would block is waited for",
    "readfua": "a read is never forced to the medium",
    "writefua": "use `sync=dsync`: past the page cache it is the same request",
    "stream_id": _ENGINE,
    "write_hint": "no hint goes with a write",
    "ioscheduler": "the system's settings are left as they are; `tameshi doctor` shows them",
    "log_max_value": "a log's rows are means over their interval",
    "log_unix_epoch": "a log's times count from the run's begin",
    "log_alternate_epoch": "a log's times count from the run's begin",
    "log_alternate_epoch_clock_id": "a log's times count from the run's begin",
    "log_compression_cpus": "logs are plain text",
    "stats": "every job is recorded",
    "unified_rw_reporting": "reads, writes and trims are told apart",
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
    "terse-version": "there is no terse output; use --output-format=json",
    "minimal": "there is no terse output; use --output-format=json",
    "append-terse": "there is no terse output; use --output-format=json",
    "status-interval": "progress is shown on standard error; results come at the end",
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
"""Refused by name, each with its reason."""

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
"""Engines whose requests this generator issues by its own: whether one at a time or several."""

CALLS = {
    "falloc": "allocate",
    "ftruncate": "truncate",
    "e4defrag": "move_extents",
    "filecreate": "create",
    "filestat": "stat",
    "filedelete": "delete",
}
"""Engines that make calls on files instead of moving data, and what a study calls them."""
IN_DIRECTORY = ("filecreate", "filestat", "filedelete")
"""Those whose requests are of a file each."""


def known_engine(setting: Setting) -> str:
    """An engine's name; raises `BadInput` for one that is not carried out."""
    engine = setting.value or ""
    if ENGINES.get(engine):
        return engine
    reasons = {
        "exec": "it runs commands",
        "mmap": "files are not mapped into memory",
        "null": "it needs a file; `--world simulated --device null` has a drive that costs nothing",
    }
    raise BadInput(
        f"this engine is refused: {reasons.get(engine, 'its requests are not issued here')}",
        where=setting.where,
        key=setting.key,
        found=engine or "no value",
        accepted=[name for name, kind in ENGINES.items() if kind],
    )


def known(setting: Setting) -> Setting:
    """The setting under its main name; raises `BadInput` for one that is refused or unknown."""
    key = ALIASES.get(setting.key, setting.key)
    if key in TRANSLATED or key in NOTED:
        return Setting(key, setting.value, setting.where)
    if key in COMMANDS:
        message = f"this key is refused whatever it says: {COMMANDS[key]}"
        raise BadInput(message, where=setting.where, key=setting.key)
    if key in REFUSED:
        message = f"this key can't be carried out: {REFUSED[key]}"
        raise BadInput(message, where=setting.where, key=setting.key)
    close = difflib.get_close_matches(setting.key, every_key(), n=1)
    hint = f"Did you mean {close[0]}?" if close else ""
    raise BadInput("fio has no such key", where=setting.where, key=setting.key, hint=hint)


def every_key() -> Sequence[str]:
    """Every name that is known, refused ones too."""
    return sorted({*ALIASES, *TRANSLATED, *NOTED, *COMMANDS, *REFUSED})
