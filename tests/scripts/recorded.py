# SPDX-License-Identifier: 0BSD OR MIT
"""Recorded machines: reports of "cpucycles-info --json" from other machines, tests/machines/*.json.
report.py judges each of them. "recorded.py NAME REPORT" records a report, with a row in the table
of doc/platforms.md."""

import glob
import json
import os
import re
import sys

SOURCE = os.path.dirname(os.path.abspath(__file__)) + "/../.."
SCHEMA = SOURCE + "/cpucycles-info/cpucycles-info.schema.json"
CYCLES = ("core", "system call", "reference")  # kinds that win over all others


def machines():
    """Returns the names and the paths of the reports."""
    paths = sorted(glob.glob(f"{SOURCE}/tests/machines/*.json"))
    return [(os.path.basename(path)[:-len(".json")], path) for path in paths]


def row(name, report):
    """Returns the row of doc/platforms.md."""
    counters = report["implementation"] + " is selected"
    return f"| {name:25} | {counters:38} | {'yes':8} | {'recorded':16} |"


def judge(report):
    """Asserts what holds for every machine."""
    counters = report["counters"]
    used = [c for c in counters if c["state"] == "selected"]
    assert [c["name"] for c in used] == [report["implementation"]], "the selected counter"
    better = [c["name"] for c in counters if c["state"] == "usable" and c["kind"] in CYCLES
              and c["reason"] is None and used[0]["kind"] not in CYCLES]
    assert not better or report["implementation_ignored"], f"{better} count cycles"
    unexplained = [c["name"] for c in counters if c["state"] == "dropped" and not c["reason"]]
    assert not unexplained, f"{unexplained} were dropped without a reason"
    core = report["core"]
    ratio = core["cycles_per_counted_cycle"] if core["counts_core_cycles"] else None
    assert ratio is None or 0.95 <= ratio <= 1.05 or report["warnings"], (
        f"{ratio} core cycles per count, and no warning")
    for interval in report["observed"]:
        assert interval["low"] <= interval["high"], interval


def record(name, path):
    import jsonschema  # only here, because report.py runs without it, too

    with open(path) as file:
        report = json.load(file)
    with open(SCHEMA) as file:
        errors = list(jsonschema.Draft7Validator(json.load(file)).iter_errors(report))
    assert not errors, errors[0].message
    judge(report)
    assert re.fullmatch("[a-zA-Z0-9][a-zA-Z0-9_.-]{0,24}", name), f"{name} is no name of a machine"
    table = f"{SOURCE}/doc/platforms.md"
    with open(table) as file:
        lines = file.read().split("\n")
    written = [line for line in lines if line.startswith(f"| {name:25} |")]
    assert all("| recorded " in line for line in written), f"{name} is the name of another row"
    lines = [line for line in lines if line not in written]
    last = max(i for i, line in enumerate(lines) if line.startswith("|"))
    lines.insert(last + 1, row(name, report))
    with open(table, "w") as file:
        file.write("\n".join(lines))
    with open(f"{SOURCE}/tests/machines/{name}.json", "w") as file:
        print(json.dumps(report), file=file)
    print(row(name, report))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: recorded.py NAME REPORT")
    try:
        record(*sys.argv[1:])
    except (AssertionError, KeyError, IndexError, TypeError, ValueError, OSError) as why:
        sys.exit(f"recorded.py: {sys.argv[2]}: {type(why).__name__}: {why}")
