"""Layouts of the reports of tpcc-mysql and sysbench, one pattern per line."""

import re

N, F2, F3 = r"\d+", r"\d+\.\d\d", r"\d+\.\d\d\d"
# Layout of tpcc-mysql's report, from its templates.
TPCC_MYSQL = [
    r"\*{39}",
    r"\*\*\* ###easy### TPC-C Load Generator \*\*\*",
    r"\*{39}",
    r"option \w+ with value '[^']*'",
    r"option \w+ with value '[^']*'",
    "<Parameters>",
    r"     \[server\]: .*",
    rf"     \[port\]: {N}",
    r"     \[DBname\]: .*",
    r"       \[user\]: .*",
    r"       \[pass\]: .*",
    rf"  \[warehouse\]: {N}",
    rf" \[connection\]: {N}",
    rf"     \[rampup\]: {N} \(sec\.\)",
    rf"    \[measure\]: {N} \(sec\.\)",
    "",
    rf"RAMP-UP TIME\.\({N} sec\.\)",
    "",
    r"MEASURING START\.",
    "",
    rf"[ \d]{{3}}\d, trx: {N}, 95%: {F3}, 99%: {F3}, max_rt: {F3}" + rf", {N}\|{F3}" * 4,
    "+",
    "",
    r"STOPPING THREADS\.\.",
    "",
    "<Raw Results>",
    *(rf"  \[{i}\] sc:{N} lt:{N}  rt:{N}  fl:{N} avg_rt: \d+\.\d \({N}\)" for i in range(5)),
    rf" in {N} sec\.",
    "",
    r"<Raw Results2\(sum ver\.\)>",
    *(rf"  \[{i}\] sc:{N}  lt:{N}  rt:{N}  fl:{N} " for i in range(5)),
    "",
    r"<Constraint Check> \(all must be \[OK\]\)",
    r" \[transaction percentage\]",
    rf"        Payment: {F2}% \(>=43\.0%\) \[(OK|NG)\]( \*)?",
    rf"   Order-Status: {F2}% \(>= 4\.0%\) \[(OK|NG)\]( \*)?",
    rf"       Delivery: {F2}% \(>= 4\.0%\) \[(OK|NG)\]( \*)?",
    rf"    Stock-Level: {F2}% \(>= 4\.0%\) \[(OK|NG)\]( \*)?",
    r" \[response time \(at least 90% passed\)\]",
    rf"      New-Order: {F2}%  \[OK\]",
    rf"        Payment: {F2}%  \[OK\]",
    rf"   Order-Status: {F2}%  \[OK\]",
    rf"       Delivery: {F2}%  \[OK\]",
    rf"    Stock-Level: {F2}%  \[OK\]",
    "",
    "<TpmC>",
    rf"                 {F3} TpmC",
]
# Layout of sysbench 1.0, checked against its own output too.
SYSBENCH = [
    r"\S+ \d\S* \(.*\)",
    "",
    "Running the test with following options:",
    rf"Number of threads: {N}",
    rf"Report intermediate results every {N} second\(s\)",
    r"Initializing random number generator from .*",
    "",
    "",
    r"Initializing worker threads\.\.\.",
    "",
    "Threads started!",
    "",
    rf"\[ {N}s \] thds: {N} tps: {F2} qps: {F2} \(r/w/o: {F2}/{F2}/{F2}\) "
    rf"lat \(ms,95%\): {F2} err/s: {F2} reconn/s: {F2}",
    "+",
    "SQL statistics:",
    "    queries performed:",
    rf"        read:                            {N}",
    rf"        write:                           {N}",
    rf"        other:                           {N}",
    rf"        total:                           {N}",
    rf"    transactions:                        (?=.{{6}}){N} * \({F2} per sec\.\)",
    rf"    queries:                             (?=.{{6}}){N} * \({F2} per sec\.\)",
    rf"    ignored errors:                      (?=.{{6}}){N} * \({F2} per sec\.\)",
    rf"    reconnects:                          (?=.{{6}}){N} * \({F2} per sec\.\)",
    "",
    "General statistics:",
    r"    total time:                          \d+\.\d{4}s",
    rf"    total number of events:              {N}",
    "",
    r"Latency \(ms\):",
    *(rf"         {word}: (?=.{{39}}$) *{F2}" for word in ("min", "avg", "max")),
    rf"         95th percentile: (?=.{{27}}$) *{F2}",
    rf"         sum: (?=.{{39}}$) *{F2}",
    "",
    "Threads fairness:",
    r"    events \(avg/stddev\):           \d+\.\d{4}/\d+\.\d\d",
    r"    execution time \(avg/stddev\):   \d+\.\d{4}/\d+\.\d\d",
    "",
]


def mismatch(layout: list[str], text: str) -> str:
    """Return the first line that breaks the layout; empty if none does."""
    lines = text.split("\n")[:-1]
    at = 0
    for place, pattern in enumerate(layout):
        if pattern == "+":
            while at < len(lines) and re.fullmatch(layout[place - 1], lines[at]):
                at += 1
        elif at == len(lines) or not re.fullmatch(pattern, lines[at]):
            return f"{pattern!r} is not {lines[at : at + 1]}"
        else:
            at += 1
    return "" if at == len(lines) else f"more than the layout: {lines[at:]}"
