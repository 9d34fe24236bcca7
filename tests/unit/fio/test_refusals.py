"""Refusal of unsupported keys by name, with file, line and reason."""

import pytest

from tameshi.core.errors import BadInput
from tameshi.fio import parse_job_text, read_job, read_jobs, translate
from tameshi.fio.jobfile import Setting
from tameshi.fio.keys import ALIASES, COMMANDS, NOTED, REFUSED, TRANSLATED, known


def refusal(text: str) -> str:
    with pytest.raises(BadInput) as refused:
        translate([read_job(job) for job in parse_job_text(text)], "job", None)
    return str(refused.value)


def test_a_misspelled_key_is_named_with_the_nearest():
    assert refusal("[a]\nrw=read\niodept=4\n") == (
        "job.fio:3: iodept: fio has no key of this name. Did you mean iodepth?"
    )


@pytest.mark.parametrize("key", sorted(COMMANDS))
def test_command_keys_are_refused_with_any_value(key):
    for value in ("=rm -rf /", "=", "=0", ""):
        assert refusal(f"[a]\nsize=1m\n{key}{value}\n").startswith(
            f"job.fio:3: {key}: this key is always refused: "
        )


@pytest.mark.parametrize("key", sorted(REFUSED))
def test_unsupported_key_states_its_reason(key):
    assert refusal(f"[a]\nsize=1m\n{key}=7\n") == (
        f"job.fio:3: {key}: this key is not supported: {REFUSED[key]}."
    )


def test_each_key_is_in_one_table_and_aliases_lead_to_keys():
    tables = [TRANSLATED - set(NOTED), set(NOTED), set(COMMANDS), set(REFUSED)]
    assert sum(map(len, tables)) == len(set().union(*tables))
    assert set(ALIASES.values()) <= set().union(*tables)
    assert not set(ALIASES) & set().union(*tables)


@pytest.mark.parametrize("key", sorted(set(NOTED) - {"thread"}))
def test_key_without_effect_is_noted(key):
    (job,) = parse_job_text(f"[a]\nsize=1m\n{key}=2\n")
    assert any(note.startswith(f"job.fio:3: {key}: ") for note in read_job(job).notes)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("rw=reed", "job.fio:3: rw: unknown kind of load. Found: reed."),
        ("rw=read:-4k", "job.fio:3: rw: a step back this short reads the same bytes again."),
        ("ioengine=null", "job.fio:3: ioengine: this engine is not supported: it needs a file"),
        ("ioengine=exec", "job.fio:3: ioengine: this engine is not supported: it runs commands."),
        ("filename=a:b", "job.fio:3: filename: not supported: 2 files cannot"),
        ("rw=randrw\nrate_iops=100,0", "job.fio:4: rate_iops: not supported: a job"),
        ("fsync=1\nfdatasync=1", "job.fio:4: fdatasync: not supported: `fsync`"),
        ("sync=fast", "job.fio:3: sync: unknown kind of synchronous write. Found: fast."),
        ("random_distribution=normal:3\nrw=randread", "job.fio:3: random_distribution: not"),
        ("iodepth=0", "job.fio:3: iodepth: below the minimum. Found: 0. Accepted: 1 or more."),
        ("wait_for=b", "job.fio:3: wait_for: no earlier job has this name. Found: b."),
        ("io_size=1k", "job.fio:3: io_size: this is less than one request."),
    ],
)
def test_invalid_values_are_refused_at_their_line(lines, said):
    assert refusal(f"[a]\nsize=1m\n{lines}\n").startswith(said)


DEFAULTS = """
    unified_rw_reporting=0 prio=0 log_prio=0 nice=0 cmdprio_percentage=0 verify_only=0
    experimental_verify=0 sqthread_poll=0 max_open_zones=0 trim_percentage=0
    rw_sequencer=sequential numa_mem_policy=default io_limit=0 percentage_random=100,100,100
    stats=1 lockfile=none file_service_type=roundrobin
"""


@pytest.mark.parametrize(
    "line", [*DEFAULTS.split(), "rate_iops=100\nthinktime=0", "rate=4k\nrate_iops=0"]
)
def test_key_at_its_default_asks_for_nothing(line):
    jobs = [read_job(job) for job in parse_job_text(f"[a]\nsize=1m\nrw=write\n{line}\n")]
    assert translate(jobs, "job", None).streams


@pytest.mark.parametrize(
    ("job", "pattern"),
    [
        ("randread\npercentage_random=100,0", "shuffled"),
        ("randread\npercentage_random=0,100,30", "sequential"),
        ("randwrite\npercentage_random=30,100", "shuffled"),
        ("randtrim\npercentage_random=30,70,0", "sequential"),
        ("randrw\npercentage_random=0,0,70", "sequential"),
        ("rw\npercentage_random=30,70", "sequential"),
    ],
)
def test_share_of_random_requests_applies_to_used_directions(job, pattern):
    (text,) = parse_job_text(f"[a]\nsize=1m\nrw={job}\n")
    assert read_job(text).pattern == (pattern, None)


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        ("30,70", "Set it to 0 or 100."),
        ("30", "Set it to 0 or 100."),
        ("30,70,100", "Set it to 0 or 100."),
        ("100,0", "Split it into jobs of rw=randread and rw=write."),
        ("0,100", "Split it into jobs of rw=read and rw=randwrite."),
        ("100,101", "Accepted: 0 to 100."),
    ],
)
def test_j4_mixed_share_of_random_requests_names_remedy(value, remedy):
    said = refusal(f"[a]\nsize=1m\nrw=randrw\npercentage_random={value}\n")
    assert said.startswith("job.fio:4: percentage_random: ") and said.endswith(remedy)


def test_all_refusals_are_told_at_once_by_own_keys():
    text = (
        "[global]\nsize=1m\nprio=3\n[a]\nioengine=mmap\n[b]\nreadwrite=reed\nblocksize=0\n"
        "[c]\niodept=2\nlockmem=1g\nio_limit=1k\n"
    )
    with pytest.raises(BadInput) as refused:
        read_jobs(parse_job_text(text))
    starts = [line.split(": ")[:2] for line in str(refused.value).splitlines()]
    assert starts == [
        ["job.fio:5", "ioengine"],
        ["job.fio:3", "prio"],
        ["job.fio:7", "readwrite"],
        ["job.fio:8", "blocksize"],
        ["job.fio:10", "iodept"],
        ["job.fio:11", "lockmem"],
    ]


def test_refusals_of_all_stages_are_told_at_once(tmp_path):
    text = (
        f"[global]\ndirectory={tmp_path}\n[a]\nsize=1m\niodept=2\n[b]\nsize=1k\n"
        "[c]\nsize=1m\nwait_for=a\n[d]\nsize=1m\nio_limit=1k\n"
    )
    with pytest.raises(BadInput) as refused:
        read_jobs(parse_job_text(text), lambda jobs: translate(jobs, "job", None))
    starts = [line.split(": ")[:2] for line in str(refused.value).splitlines()]
    assert starts == [["job.fio:5", "iodept"], ["job.fio:7", "size"], ["job.fio:13", "io_limit"]]


def test_jobs_that_cannot_be_translated_are_told_at_once(tmp_path):
    text = f"[global]\ndirectory={tmp_path}\n[a]\nsize=1k\n[b]\n[c]\nsize=1m\nio_limit=1k\n"
    said = refusal(text)
    assert said.splitlines()[0].startswith("job.fio:4: size: the region is smaller")
    assert said.splitlines()[1].startswith("job.fio:5: size: the file does not exist yet")
    assert said.splitlines()[2].startswith("job.fio:8: io_limit: this is less than one request.")


def test_unset_environment_variable_is_named():
    said = refusal("[a]\nsize=1m\nfilename=${TAMESHI_NOT_SET}\n")
    assert said.startswith(
        "job.fio:3: filename: the environment variable TAMESHI_NOT_SET is not set."
    )


def test_missing_file_needs_a_size(tmp_path):
    said = refusal(f"[a]\ndirectory={tmp_path}\n")
    assert said.startswith("job.fio:1: size: the file does not exist yet")


# Keys common in public job files, and keys for database-like loads.
PROMISED = """
    allrandrepeat bs blocksize bssplit buffer_compress_percentage buffered cpus_allowed
    dedupe_percentage direct directory do_verify end_fsync fdatasync filename filesize fixedbufs
    flow fsync group_reporting hipri invalidate io_size iodepth iodepth_batch_complete_max
    iodepth_batch_complete_min iodepth_batch_submit ioengine latency_percentile latency_run
    latency_target latency_window log_avg_msec log_hist_msec loops name new_group norandommap
    numa_cpu_nodes numjobs offset per_job_logs percentile_list ramp_time random_distribution
    randrepeat randseed rate rate_iops rate_process readwrite refill_buffers registerfiles runtime
    rw rwmixread rwmixwrite size ss ss_dur ss_interval ss_ramp startdelay steadystate stonewall
    sync thinktime thinktime_blocks thinktime_blocks_type thinktime_iotime thinktime_spin thread
    time_based verify verify_fatal wait_for write_bw_log write_hist_log write_iops_log
    write_lat_log zonemode
"""


def test_no_key_that_job_files_commonly_use_is_refused():
    for key in PROMISED.split():
        main = known(Setting(key, "1", "job.fio:1")).key
        assert main in TRANSLATED or NOTED[main], key
