# SPDX-License-Identifier: 0BSD OR MIT
"""Tests the reports of cpucycles-info: JSON against the shipped schema, the plain lines, plots and
--check, each counter forced in turn."""

import functools
import json
import os
import re
import signal
import subprocess
import sys

import tool
from tool import (CLOCK, KINDS_THAT_FAIL_THE_CHECK, ONE_COUNTER, SOURCE, WINDOWS, Skip, bars,
                  document, names, once, run, three_attempts)

try:
    import jsonschema
except ImportError:
    jsonschema = None

STRANGE = 'a"b\\c\t\x1b[1m\u00e9' + "x" * 500


def _forbid_other_members(schema):
    """Returns the schema, changed so that it forbids members that it does not name."""
    if isinstance(schema, dict):
        schema = {key: _forbid_other_members(value) for key, value in schema.items()}
        if "properties" in schema:
            schema["additionalProperties"] = False
    elif isinstance(schema, list):
        schema = [_forbid_other_members(value) for value in schema]
    return schema


@functools.lru_cache(maxsize=None)
def _validator():
    if not jsonschema:
        raise Skip("python3-jsonschema is not installed")
    with open(f"{SOURCE}/cpucycles-info/cpucycles-info.schema.json") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(_forbid_other_members(schema))


def _validate(report):
    _validator().validate(report)


def _differs(value, other):
    """Whether two numbers differ by more than one percent."""
    return abs(value - other) > 0.01 * abs(other)


def json_follows_the_shipped_schema():
    _validate(document())
    _validate(document(CPUCYCLES_IMPLEMENTATION=f"{STRANGE} {CLOCK}", cpucyclespersecond="junk"))


def schema_refuses_other_reports():
    _validator()  # skips the test without jsonschema
    report = document()
    for change in (lambda r: r.pop("warnings"), lambda r: r.update(format=2),
                   lambda r: r.update(more=1), lambda r: r["counters"][0].update(kind="other"),
                   lambda r: r["iqm"]["differences"].pop(),
                   lambda r: r["counters"][0].update(reason="because")):
        changed = json.loads(json.dumps(report))
        change(changed)
        try:
            _validate(changed)
        except jsonschema.ValidationError:
            continue
        raise AssertionError("a report that breaks the schema is accepted")


@three_attempts
def json_agrees_with_the_plain_lines():
    report = document()
    lines = once("--all").replace("\n    ", " ").splitlines()
    traced = [line.split() for line in lines if line.startswith("cpucycles tracesetup ")]
    persecond = int(re.search(r"^cpucycles persecond (\d+)$", "\n".join(lines), re.M).group(1))
    assert [words[3] for words in traced] == [c["name"] for c in report["counters"]] == names()
    only32 = ["1" if c["width"] == 32 else "0" for c in report["counters"]]
    assert [words[9] for words in traced] == only32
    for words, counter in zip(traced, report["counters"]):
        assert (words[5] == "0") == (counter["score"] == 0), words
        # If the counter is scaled, its scale factor is proportional to the frequency estimate.
        scaling = float(words[7])
        assert not _differs(scaling, counter["scaling"]) or not _differs(
            scaling / persecond, counter["scaling"] / report["frequency"]["persecond"]), words
    used = [c["name"] for c in report["counters"] if c["state"] == "selected"]
    assert used == [report["implementation"]]
    assert f"cpucycles implementation {used[0]}" in lines
    assert any(re.match(rf"cpucycles frequency estimate \d+ from {re.escape(report['frequency']['source'])}\b", line)
               for line in lines)
    explained = {}  # values that a line contains after the name: first counter with these values
    for counter in report["counters"]:
        prefix = f"cpucycles dropped {counter['name']} "
        dropped = [line for line in lines if line.startswith(prefix)]
        assert len(dropped) == (counter["state"] == "dropped"), counter["name"]
        alike = tuple(counter[key] for key in ("reason", "explanation", "remedy"))
        first = explained.setdefault(alike, counter["name"])
        if dropped and first != counter["name"]:
            assert dropped[0].startswith(f"{prefix}{counter['reason']}: like {first}"), dropped
        elif dropped:
            said = f"{counter['reason']}: {counter['explanation']}"
            assert dropped[0].startswith(prefix + said), dropped
            for more in ("signal", "error", "remedy"):
                assert not counter[more] or counter[more] in dropped[0], dropped
        if counter["timer"]:
            prefix = (f"cpucycles timer {counter['name']} unit {counter['unit']}; "
                      f"kind {counter['kind']}, scope {counter['scope']}")
            assert any(line.startswith(prefix) for line in lines), counter["name"]
        prefix = f"cpucycles timer {counter['name']} "
        has_line = any(line.startswith(prefix) for line in lines)
        assert (counter["timer"] is not None) == has_line, counter["name"]
    system = report["system"]
    kernel = " ".join(filter(None, (system["kernel"], system["release"])))
    assert f"cpucycles system kernel {kernel}" in lines
    assert any(line.startswith(f"cpucycles system architecture {system['architecture']}, "
                               f"{system['pointer_bits']} bits, {system['byte_order']}-endian")
               for line in lines)
    for key in ("libc", "hypervisor", "container", "emulator"):
        assert not system[key] or any(f" {key} {system[key]}" in line for line in lines), key
    warnings = [line for line in lines if line.startswith("cpucycles warning ")]
    assert len(warnings) == len(report["warnings"])
    assert all(line.startswith("cpucycles ") for line in lines)


@three_attempts
def core_frequency_is_reported_beside_the_counted_rate():
    report = document()
    core = report["core"]
    kind = [c["kind"] for c in report["counters"] if c["state"] == "selected"][0]
    is_core = kind in ("core", "system call")
    assert is_core or core["counts_core_cycles"] is False, core
    frequency = core["persecond_after"] or core["persecond_before"]
    is_known = bool(frequency and core["counted_persecond"])
    assert (core["cycles_per_counted_cycle"] is not None) == is_known, core
    if is_known and not is_core:
        ratio = frequency / core["counted_persecond"]
        assert abs(core["cycles_per_counted_cycle"] / ratio - 1) < 1e-3, core
        warned = any("but the core runs at" in warning for warning in report["warnings"])
        assert warned == (not 0.98 < ratio < 1.02), report["warnings"]


@three_attempts
def each_counter_that_works_is_examined():
    for counter in document()["counters"]:
        works = counter["state"] != "dropped" and counter["kind"] != "none"
        if WINDOWS:
            works = counter["state"] == "selected"
        assert (counter["timer"] is not None) == works, counter["name"]
        timer = counter["timer"]
        if timer is None:
            continue
        assert timer["failure"] is None, timer
        assert timer["differences"]["count"] == 10000
        below = timer["differences"]["below_zero"]
        assert (below > 0) == (timer["differences"]["lowest"] < 0)
        order = [timer["differences"][key] for key in
                 ("lowest", "lower_quartile", "median", "upper_quartile", "highest")]
        assert order == sorted(order), order
        assert timer["step"] > 0, timer
        assert abs(timer["step_units"] * counter["scaling"] - timer["step"]) <= 1, timer
        if timer["grain"]:
            grain = timer["grain"]
            assert grain["share"] >= 0.7 and grain["units"] >= 2, timer
            assert abs(grain["units"] * counter["scaling"] / grain["cycles"] - 1) < 0.001, timer
        assert timer["rate"]["seconds"] >= 0.05, timer
        assert (timer["rate"]["measured"] is None) == (counter["scope"] == "thread"), timer
        assert timer["rate"]["measured"] is None or timer["rate"]["uncertainty_ppm"] < 100000
        assert timer["rate"]["reported"] or timer["rate"]["reported_source"] is None
        assert timer["read"]["cycles"] > 0 and timer["read"]["nanoseconds"] > 0
        assert (timer["invariant"] is None) == (timer["invariant_source"] is None)
        if timer["rate"]["reported"] and timer["rate"]["measured"]:
            off = (timer["rate"]["measured"] / timer["rate"]["reported"] - 1) * 1e6
            assert abs(off - timer["rate"]["off_ppm"]) < 1 + 1e6 / timer["rate"]["reported"], timer
        else:
            assert timer["rate"]["off_ppm"] is None
        if counter["kind"] == "clock":
            assert timer["invariant"] is True and timer["rate"]["reported"] > 0
            # measured against another clock, which may be set and slewed; the machine may be busy
            assert abs(timer["rate"]["off_ppm"]) < 50000, timer


@three_attempts
def ignored_sigchld_changes_nothing():
    if WINDOWS:
        raise Skip("Windows has no signals")
    done = subprocess.run([*tool.TOOL.split(), *ONE_COUNTER.split()], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=True,
                          preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert b"cpucycles timer default-gettimeofday " in done.stdout, done.stdout
    assert done.stderr == b"", done.stderr


def report_is_whole_where_a_filter_raises_sigsys():
    if os.environ.get("CPUCYCLES_TEST_UNDER") == "asan":
        raise Skip("LeakSanitizer makes these calls itself, and waits for them")
    def labels(lines):
        return {" ".join(line.split()[:2]) for line in lines.splitlines() if line[:1] != " "}
    whole = labels(once(ONE_COUNTER))
    usual = tool.TOOL
    tried = 0
    # Where fork() or the start of a program blocks SIGSYS, a trapped call ends the program.
    for call in ("perf_event_open", "getdents64", "uname", "sched_getaffinity",
                 "sched_setaffinity"):
        trapping = f"{os.environ['builddir']}/tests/programs/trapping {call} {usual}"
        if subprocess.run(f"{trapping} --version", shell=True, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode != 0:
            continue  # no filters, or the loader or a script before the tool makes the call
        tried += 1
        try:
            tool.TOOL = trapping
            lines = run(f"{ONE_COUNTER} -a").replace("\n    ", " ")
        finally:
            tool.TOOL = usual
        assert whole <= labels(lines), (call, whole - labels(lines))
        named = re.findall(r"^cpucycles warning a seccomp filter raises SIGSYS at (.*): ", lines, re.M)
        # a call that this machine or C library does not make is not named
        assert named in ([call], []), (call, named)
        assert named or call != "perf_event_open", lines
    if not tried:
        raise Skip("no seccomp filter can be set, or no handler changes the result of a call")


@three_attempts
def hops_visit_the_allowed_cpus():
    if not hasattr(os, "sched_getaffinity"):
        raise Skip("this system has no sched_getaffinity")
    allowed = sorted(os.sched_getaffinity(0))
    timer = [c for c in document()["counters"] if c["timer"]][0]["timer"]
    if WINDOWS:
        assert timer["across_cpus"] is None
        raise Skip("the tool does not read the set of CPUs of Windows")
    if len(allowed) == 1:
        assert timer["across_cpus"] is None
        raise Skip("only one CPU is allowed")
    across = timer["across_cpus"]
    assert across["cpus"] == len(allowed), timer
    # the tool makes 1 to 100 rounds over the CPUs, however long they take
    assert len(allowed) <= across["hops"] <= 100 * len(allowed)
    assert across["monotonic"] == (across["largest_step_back"] == 0), timer
    taskset = ["taskset", "-c", str(allowed[0]), "true"]
    if subprocess.run(taskset, stderr=subprocess.DEVNULL).returncode != 0:
        raise Skip("one CPU only: taskset is not installed")
    usual = tool.TOOL
    try:
        tool.TOOL = f"taskset -c {allowed[0]} {usual}"
        report = json.loads(run(f"--json {ONE_COUNTER}"))
    finally:
        tool.TOOL = usual
    assert report["cpu"]["allowed"] == 1
    assert all(c["timer"] is None or c["timer"]["across_cpus"] is None for c in report["counters"])


@three_attempts
def each_counter_can_be_forced():
    unusable = [c["name"] for c in document()["counters"] if c["state"] == "dropped"]
    for name in names():
        if name in unusable[1:]:
            continue  # each unusable counter leads to the same selection, so only one is tested
        report = document(f"--json --counter {name}")
        if jsonschema:
            _validate(report)
        counter = [c for c in report["counters"] if c["name"] == name][0]
        examined = [c["name"] for c in report["counters"] if c["timer"]]
        assert counter["reason"] != "not-asked"
        if report["implementation"] == name:
            assert report["implementation_ignored"] is None and counter["state"] == "selected"
            assert examined == ([] if name == "default-zero" else [name]), examined
            others = {c["reason"] for c in report["counters"] if c["name"] != name}
            assert others <= {"not-asked"}
        else:
            assert counter["state"] == "dropped"
            ignored = f"{name} does not work here: {counter['reason']}"
            assert report["implementation_ignored"] == ignored
            assert name not in examined


@three_attempts
def check_has_status_1_if_a_clock_is_selected():
    kinds = {c["name"]: c["kind"] for c in document()["counters"]}
    used = run("--check", status=int(kinds[document()["implementation"]] in KINDS_THAT_FAIL_THE_CHECK))
    assert used == f"cpucycles implementation {document()['implementation']}\n", used
    used = run("--check", status=1, CPUCYCLES_IMPLEMENTATION=CLOCK)
    assert used == f"cpucycles implementation {CLOCK}\n", used


@three_attempts
def check_has_status_1_unless_the_named_counter_is_in_use():
    report = document()
    for counter in report["counters"]:
        name = counter["name"]
        works = counter["state"] != "dropped" and counter["kind"] != "none"
        used = run(f"--check --counter {name}", status=int(not works)).split()[-1]
        assert (used == name) == works, f"{name}: {used}"
        said = f"cpucycles-info: {used} is in use, not {name}: {name} does not work here: "
        assert run.error == "" if works else run.error.startswith(said), run.error


@three_attempts
def plot_has_each_working_counter():
    chart = once("--plot", LC_ALL="C")
    heads = re.findall(r"^(\S+): 10000 differences of adjacent reads, in cycles$", chart, re.M)
    assert heads == [c["name"] for c in document()["counters"] if c["timer"]]
    assert all(len(line) <= 80 and line.isascii() for line in chart.splitlines()), chart
    for part in chart.split("\n\n"):
        counts = [int(re.match(r" *\S+ +(\d+)", line).group(1)) for line in bars(part)]
        assert sum(counts) == 10000, part
        for mark in ("Q1", "median", "Q3"):
            assert len(re.findall(rf"\b{mark}\b", "\n".join(bars(part)))) == 1, part
        line = re.search(r"^quartiles (-?\d+) (-?\d+) (-?\d+), ", part, re.M)
        quartiles = [int(quartile) for quartile in line.groups()]
        for mark, value in zip(("Q1", "median", "Q3"), quartiles):
            row = [line for line in bars(part) if re.search(rf"\b{mark}\b", line)][0]
            ends = [int(end) for end in re.match(r" *(-?\d+)(?:\.\.(-?\d+))?", row).groups() if end]
            assert ends[0] <= value <= ends[-1], row


def nothing_identifies_person_or_host():
    for said in (once(), once("--json"), once("--plot", LC_ALL="C")):
        assert "secret" not in said
        assert os.getcwd() not in said
        assert not re.search(r"(?i)\bserial\b", said)
    quoted = tool.TOOL.replace("'", "'\\''")
    # where unshare() succeeds without an effect, the name would be the machine's own
    named = "test -e /proc/self/ns/uts && unshare --uts sh -c 'test $(readlink /proc/self/ns/uts)" \
        " != '$(readlink /proc/self/ns/uts)' && hostname secret-host && {}'"
    if subprocess.getoutput(named.format("hostname")) != "secret-host":
        raise Skip("another host name: unshare --uts is not permitted or not installed")
    done = subprocess.run(named.format(f"{quoted} --json {ONE_COUNTER}"), shell=True,
                          stdout=subprocess.PIPE, check=True)
    assert b"default-gettimeofday" in done.stdout and b"secret" not in done.stdout


if __name__ == "__main__":
    sys.exit(tool.main(globals()))
