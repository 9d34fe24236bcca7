"""fio job files, run by Tameshi, with results in fio's formats.

`jobfile` parses text, `keys` decides on every key, and `values` parses values. `job` interprets one
job by its `options` and `goals`. `translate` makes a study of all jobs, with one entry of `streams`
for each stream. After the run, `measured` reads the record into `bins`; `json_writer` writes fio's
JSON, `output` its text and logs. `json` holds the keys of fio's JSON and reads results of fio
itself. `docs/fio.md` is the page for users.
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
