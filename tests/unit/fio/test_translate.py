"""Translation of fio jobs into streams of a study."""

from tameshi.fio import parse_job_text, read_job, translate


def stream(text: str, name: str) -> str:
    """Return the table of a stream in the study of a job file."""
    study = translate([read_job(job) for job in parse_job_text(text)], "job", None).study
    return study.split(f"[workload.stream.{name}]\n")[1].split("\n\n")[0]


def test_buffered_job_starts_with_a_cold_page_cache():
    def study(text: str) -> str:
        jobs = [read_job(job) for job in parse_job_text(f"[a]\nsize=1m\nfilename=f\n{text}")]
        return translate(jobs, "job", None).study

    assert 'start = "cold"' in study("rw=read\n")
    assert "start =" not in study("rw=read\ninvalidate=0\n")
    assert "start =" not in study("rw=read\ndirect=1\n")


def test_clones_in_one_stream_move_the_amount_of_each():
    job = "[a]\nsize=1m\nfilename=f\n"
    alone = stream(job, "a")
    assert "jobs = 1" in alone and 'amount = "1048576 B"' in alone
    clones = stream(f"{job}numjobs=3\ngroup_reporting\n", "a")
    assert "jobs = 3" in clones and 'amount = "3145728 B"' in clones
    apart = stream(f"{job}numjobs=3\n", "a-2")
    assert "jobs = 1" in apart and 'amount = "1048576 B"' in apart


def test_split_processors_count_over_all_sections():
    text = "[global]\nsize=1m\ncpus_allowed=0-3\ncpus_allowed_policy=split\n[a]\nnumjobs=3\n[b]\n"
    own = [stream(text, name).split("processors = ")[1][:3] for name in ("a-0", "a-2", "b")]
    assert own == ["[0]", "[2]", "[3]"]
