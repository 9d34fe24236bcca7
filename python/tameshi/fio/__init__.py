"""fio's job files carried out by Tameshi, and its results as fio would tell them.

`jobfile` reads what is written, `keys` says what becomes of every key, `job` understands one job by
a `reader` of its settings (`goals`: what it wants to reach, `limits`: what it must, `places`: where
it runs, `stride`: what it leaves out, `rates`: how often it starts something, `files`: what it does
to files, `failures`: what it goes on after), `exits` says whom it ends, `translate` makes a study
of all, a `stream` for each; after the run `measured` reads the record, `broken` says which limit
was not kept, `results` writes fio's JSON, `text` its summary and `logs` its logs. `docs/fio.md` is
the page for users.
"""

from tameshi.fio.job import Job, read_job
from tameshi.fio.jobfile import (
    JobText,
    Setting,
    parse_arguments,
    parse_job_text,
    read_job_file,
    write_jobs,
)
from tameshi.fio.json_writer import best_of, errors_of, fio_json
from tameshi.fio.output import fio_logs, fio_text
from tameshi.fio.translate import Translation, translate

__all__ = [
    "Job",
    "JobText",
    "Setting",
    "Translation",
    "best_of",
    "errors_of",
    "fio_json",
    "fio_logs",
    "fio_text",
    "parse_arguments",
    "parse_job_text",
    "read_job",
    "read_job_file",
    "translate",
    "write_jobs",
]
