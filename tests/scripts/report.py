# SPDX-License-Identifier: 0BSD OR MIT
"""Tests the reports of cpucycles-info: the plain lines, JSON against the shipped schema, plots and
--check, each counter forced in turn; the options, and where the output goes."""

import functools
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import recorded

try:
    import jsonschema
except ImportError:
    jsonschema = None

TOOL = os.environ["TOOL"]
CLOCK = "default-gettimeofday"
ONE_COUNTER = f"--counter {CLOCK}"
SOURCE = os.environ["srcdir"]
WINDOWS = os.environ.get("EXEEXT") == ".exe"
STRANGE = 'a"b\\c\t\x1b[1m\u00e9' + "x" * 500


class Skip(Exception):
    pass


def run(arguments="", status=0, redirect="", under="", **environment):
    """Runs the tool, as the argument of the command `under`; returns what it printed. The tool has
    the environment without our settings, and with markers in place of values that identify a person
    or a host. No report may contain the markers."""
    ours = ("CPUCYCLES_IMPLEMENTATION", "cpucyclespersecond")
    env = {key: value for key, value in os.environ.items() if key not in ours}
    env.update(USER="secret-user", LOGNAME="secret-user", HOSTNAME="secret-host",
               container="secret-container", **environment)
    if not WINDOWS:  # Wine needs its own HOME
        env["HOME"] = "/secret-home"
    done = subprocess.run(f"{under} {TOOL} {arguments} {redirect}", shell=True, env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == status, f"{arguments}: exit status {done.returncode}, {done.stderr!r}"
    run.error = done.stderr.decode()
    return done.stdout.decode()


@functools.lru_cache(maxsize=None)
def once(arguments="", **environment):
    """Like run(), but once per arguments and environment. Expects no error output."""
    printed = run(arguments, **environment)
    assert run.error == "", run.error
    return printed


def parsed(text):
    """Returns what Python makes of JSON, and expects no NaN, and each member once."""
    def no_constant(word):
        raise AssertionError(f"{word} is not JSON")

    def each_once(pairs):
        assert len(dict(pairs)) == len(pairs), f"a member occurs twice: {[p[0] for p in pairs]}"
        return dict(pairs)
    return json.loads(text, object_pairs_hook=each_once, parse_constant=no_constant)


def document(arguments="--json", **environment):
    return parsed(once(arguments, **environment))


def names():
    return once("--list").split()


def three_attempts(promise):
    """Marks a promise whose test needs undisturbed measurements, or compares the measurements of
    two processes. A busy machine can disturb the measurements, so one attempt of three must
    succeed. A repeated attempt makes new reports."""
    @functools.wraps(promise)
    def attempts():
        for left in (2, 1, 0):
            try:
                promise()
                return
            except Skip:
                raise
            except Exception as error:
                if left == 0:
                    raise
                print(f"repeated: {promise.__name__}: {type(error).__name__}: {error}")
                once.cache_clear()
    return attempts


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
def _validator(path="cpucycles-info/cpucycles-info.schema.json", of_this_version=True):
    if not jsonschema:
        raise Skip("python3-jsonschema is not installed")
    with open(f"{SOURCE}/{path}") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(_forbid_other_members(schema) if of_this_version else schema)


# The lines of the plain report, in this order.
FORMS = (
    r"version \d{8}",
    r"tracesetup \d+ [a-z0-9-]+ precision \d+ scaling \d+\.\d{6} only32 [01]",
    r"persecond \d+",
    r"implementation [a-z0-9-]+",
    r"iqm -?\d+ ([+-]\d+){64}",
    r"observed persecond \d+\.\.\.\d+ with \d+ loops \d+ microseconds",
    r"(system|cpu|frequency|ignored|core|timer|dropped|last resort|note|clock|governor|turbo|warning)"
    r" .+",
    r"summary (counter|core|read|trust|better|enable|warning) .+",
)


def _said(command):
    return subprocess.run(command, shell=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode("latin-1")


@functools.lru_cache(maxsize=None)
def _plain():
    """Returns the lines of a report in a locale with a decimal comma, with settings
    that the library ignores."""
    comma = [name for name in _said("locale -a").split()
             if _said(f"LC_ALL={name} locale decimal_point").strip() == ","]
    if not comma:
        print("report: skipped: decimal comma: no locale with one is installed, such as de_DE.UTF-8")
    rows = run(LC_ALL=(comma + ["C"])[0], cpucyclespersecond="junk",
               CPUCYCLES_IMPLEMENTATION="nonesuch,default-zero")
    return rows.splitlines()


HELPERS = set(globals())


def plain_lines_have_their_forms_and_order():
    lines = _plain()
    last = 0
    assert sum(line.startswith("cpucycles summary ") for line in lines) <= 10, lines
    for line in lines:
        fits = [i for i, form in enumerate(FORMS) if re.fullmatch(f"cpucycles {form}", line)]
        assert fits and fits[0] >= last, line
        last = fits[0]
    loops = [int(line.split()[5]) for line in lines if line.startswith("cpucycles observed ")]
    assert loops == [1024 << i for i in range(11)], loops
    for label in ("version", "persecond", "implementation", "iqm", "frequency", "cpu model",
                  "core persecond", "summary counter", "summary core", "summary read",
                  "summary better"):
        assert sum(line.startswith(f"cpucycles {label} ") for line in lines) == 1, label


def ignored_settings_are_reported_and_the_selection_is_automatic():
    lines = _plain()
    assert any(re.fullmatch("cpucycles frequency estimate .*; ignored: cpucyclespersecond is not a"
                            " decimal number", line) for line in lines), lines
    ignored = ("nonesuch is not a counter of this library; "
               "default-zero does not work here: not-increasing")
    assert (f"cpucycles ignored in CPUCYCLES_IMPLEMENTATION: {ignored}" in lines
            or "cpucycles implementation default-zero" in lines), lines
    assert not any("not-asked" in line for line in lines)


def json_follows_the_shipped_schema():
    report = document()
    _validator().validate(report)
    _validator().validate(document(CPUCYCLES_IMPLEMENTATION=f"{STRANGE} {CLOCK}", cpucyclespersecond="junk"))
    for change in (lambda r: r.pop("warnings"), lambda r: r.update(format=2),
                   lambda r: r.update(more=1), lambda r: r["counters"][0].update(kind="other"),
                   lambda r: r["iqm"]["differences"].pop(),
                   lambda r: r["counters"][0].update(reason="because")):
        changed = json.loads(json.dumps(report))
        change(changed)
        assert not _validator().is_valid(changed), "a report that breaks the schema fits it"


@three_attempts
def json_has_the_counters_of_the_plain_lines():
    report = document()
    lines = once("--all").splitlines()
    traced = [line.split() for line in lines if line.startswith("cpucycles tracesetup ")]
    assert [words[3] for words in traced] == [c["name"] for c in report["counters"]] == names()
    only32 = ["1" if c["width"] == 32 else "0" for c in report["counters"]]
    assert [words[9] for words in traced] == only32
    used = [c["name"] for c in report["counters"] if c["state"] == "selected"]
    assert used == [report["implementation"]]
    assert f"cpucycles implementation {used[0]}" in lines
    for counter in report["counters"]:
        dropped = [line for line in lines if line.startswith(f"cpucycles dropped {counter['name']} ")]
        assert len(dropped) == (counter["state"] == "dropped"), counter["name"]
        unit = f"cpucycles timer {counter['name']} unit {counter['unit']}; kind {counter['kind']}, "
        examined = [line for line in lines if line.startswith(unit)]
        assert len(examined) == (counter["timer"] is not None), counter["name"]
    warnings = [line for line in lines if line.startswith("cpucycles warning ")]
    assert len(warnings) == len(report["warnings"])
    middle = sorted(report["iqm"]["differences"])[16:48]
    assert report["iqm"]["mean"] == int(sum(middle) / 32), report["iqm"]


@three_attempts
def each_counter_that_works_is_examined():
    for counter in document()["counters"]:
        works = counter["state"] != "dropped" and counter["kind"] != "none"
        if WINDOWS:
            works = counter["state"] == "selected"
        timer = counter["timer"]
        assert (timer is not None) == works, counter["name"]
        if timer is None:
            continue
        assert timer["failure"] is None and timer["step"] > 0, timer
        assert timer["differences"]["count"] == 10000
        rate = timer["rate"]
        assert rate["seconds"] >= 0.05, rate
        assert (rate["measured"] is None) == (counter["scope"] == "thread"), rate
        assert rate["measured"] is None or rate["uncertainty_ppm"] < 100000
        assert rate["reported"] or rate["reported_source"] is None
        assert timer["read"]["cycles"] > 0 and timer["read"]["nanoseconds"] > 0
        assert (timer["invariant"] is None) == (timer["invariant_source"] is None)
        if counter["kind"] == "clock":
            assert timer["invariant"] is True and rate["reported"] > 0
            # measured against another clock, which may be set and slewed; the machine may be busy
            assert abs(rate["off_ppm"]) < 50000, rate


@three_attempts
def ignored_sigchld_changes_nothing():
    if WINDOWS:
        raise Skip("Windows has no signals")
    lines = run(ONE_COUNTER, under="trap '' CHLD; exec")
    assert f"cpucycles timer {CLOCK} " in lines and run.error == "", (lines, run.error)


def report_is_whole_where_a_filter_raises_sigsys():
    if os.environ.get("CPUCYCLES_TEST_UNDER") == "asan":
        raise Skip("LeakSanitizer makes these calls itself, and waits for them")
    def labels(lines):
        return {" ".join(line.split()[:2]) for line in lines.splitlines() if line[:1] != " "}
    whole = labels(once(ONE_COUNTER))
    tried = 0
    # Where fork() or the start of a program blocks SIGSYS, a trapped call ends the program.
    for call in ("perf_event_open", "getdents64", "uname", "sched_getaffinity",
                 "sched_setaffinity"):
        trapping = f"{os.environ['builddir']}/tests/programs/trapping {call} "
        if subprocess.run(f"{trapping} {TOOL} --version", shell=True, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode != 0:
            continue  # no filters, or the loader or a script before the tool makes the call
        tried += 1
        lines = run(f"{ONE_COUNTER} -a", under=trapping)
        assert whole <= labels(lines), (call, whole - labels(lines))
        named = re.findall(r"^cpucycles warning a seccomp filter raises SIGSYS at (.*): ", lines, re.M)
        # a call that this machine or C library does not make is not named
        assert named in ([call], []), (call, named)
        assert named or call != "perf_event_open", lines
    if not tried:
        raise Skip("no seccomp filter can be set, or no handler changes the result of a call")


@three_attempts
def one_allowed_cpu_is_not_hopped():
    if WINDOWS or not hasattr(os, "sched_getaffinity"):
        raise Skip("this system has no sched_getaffinity")
    taskset = f"taskset -c {min(os.sched_getaffinity(0))} "
    if subprocess.run(f"{taskset} true", shell=True, stderr=subprocess.DEVNULL).returncode != 0:
        raise Skip("taskset is not installed (Debian: util-linux)")
    report = json.loads(run(f"--json {ONE_COUNTER}", under=taskset))
    assert report["cpu"]["allowed"] == 1
    assert all(c["timer"] is None or c["timer"]["across_cpus"] is None for c in report["counters"])


@three_attempts
def each_counter_can_be_forced():
    dropped = [c["name"] for c in document()["counters"] if c["state"] == "dropped"]
    for name in names():
        works = name not in dropped and name != "default-zero"
        used = run(f"--check --counter {name}", status=int(not works)).split()[-1]
        assert (used == name) == (name not in dropped), f"{name}: {used}"
        said = f"cpucycles-info: {used} is in use, not {name}: {name} does not work here: "
        assert run.error.startswith(said) if name in dropped else run.error == "", run.error
        if name in dropped[1:]:
            continue  # each dropped counter leads to the same report, so only one is read
        report = document(f"--json --counter {name}")
        if jsonschema:
            _validator().validate(report)
        reasons = {c["name"]: c["reason"] for c in report["counters"]}
        reason = reasons.pop(name)
        assert reason != "not-asked" and report["implementation"] == used
        ignored = f"{name} does not work here: {reason}" if name in dropped else None
        assert report["implementation_ignored"] == ignored
        if name not in dropped:
            examined = [c["name"] for c in report["counters"] if c["timer"]]
            assert examined == [name] * works, examined
            assert set(reasons.values()) <= {"not-asked"}


@three_attempts
def check_has_status_1_if_a_clock_is_selected():
    kinds = {c["name"]: c["kind"] for c in document()["counters"]}
    used = run("--check", status=kinds[document()["implementation"]] in ("clock", "none"))
    assert used == f"cpucycles implementation {document()['implementation']}\n", used
    used = run("--check", status=1, CPUCYCLES_IMPLEMENTATION=CLOCK)
    assert used == f"cpucycles implementation {CLOCK}\n", used


@three_attempts
def plot_has_each_working_counter():
    chart = once("--plot", LC_ALL="C")
    heads = re.findall(r"^(\S+): 10000 differences of adjacent reads, in cycles$", chart, re.M)
    assert heads == [c["name"] for c in document()["counters"] if c["timer"]]
    assert all(len(line) <= 80 and line.isascii() for line in chart.splitlines()), chart


def hypervisor_is_named_where_the_kernel_finds_one():
    lines = _said("cat /proc/cpuinfo")
    if "flags\t" not in lines or os.environ.get("CPUCYCLES_TEST_UNDER"):
        raise Skip("the kernel lists no flags of this CPU, or the CPU is emulated")
    named = document()["system"]["hypervisor"]
    assert (named is not None) == (" hypervisor" in lines), named


def nothing_identifies_person_or_host():
    for said in (once(), once("--json"), once("--plot", LC_ALL="C")):
        assert "secret" not in said
        assert os.getcwd() not in said
        assert not re.search(r"(?i)\bserial\b", said)
    quoted = TOOL.replace("'", "'\\''")
    # where unshare() succeeds without an effect, the name would be the machine's own
    named = "test -e /proc/self/ns/uts && unshare --uts sh -c 'test $(readlink /proc/self/ns/uts)" \
        " != '$(readlink /proc/self/ns/uts)' && hostname secret-host && {}'"
    if subprocess.getoutput(named.format("hostname")) != "secret-host":
        raise Skip("another host name: unshare --uts is not permitted, or not installed (Debian: util-linux)")
    done = subprocess.run(named.format(f"{quoted} --json {ONE_COUNTER}"), shell=True,
                          stdout=subprocess.PIPE, check=True)
    assert b"default-gettimeofday" in done.stdout and b"secret" not in done.stdout


@three_attempts  # Wine itself can print a message
def wrong_arguments_are_a_usage_error():
    for arguments in ("-x", "--nonsense", "x", "''", "-j x --help", "--json=1", "--c default-zero",
                      "-c nonesuch", "-c ''", "--counter", "-o", "-o x", "-o 0", "--observe -1",
                      "-o nan", "-o inf", "-o 1e9", "-o 1x", "--observe=0x1", "-o ' 1'",
                      "--json --plot", "--list --json", "-l -c default-zero", "-C -o 1", "-hV"):
        # with POSIXLY_CORRECT, options end at the first operand
        has_operand = arguments in ("x", "-j x --help")
        for environment in [{}, {"POSIXLY_CORRECT": "1"}] if has_operand else [{}]:
            assert run(arguments, status=2, **environment) == "", arguments
            said = run.error.splitlines()
            assert re.match(r"(.*[/\\])?(lt-)?cpucycles-info(\.exe)?: .", said[0]), run.error
            assert said[1].startswith("usage: "), run.error


def options_have_one_letter_and_abbreviations():
    assert once("--list") == run("-l") == run("--li") == run("-ll --")
    assert once("--version") == run("-V") == run("--v")
    assert once("--help") == run("-h") == run("--he")
    for arguments in (f"-C -c {CLOCK}", f"-Cc{CLOCK}", f"--ch --co={CLOCK}", f"-Cc {CLOCK} --"):
        assert run(arguments) == f"cpucycles implementation {CLOCK}\n", arguments
    before = time.monotonic()
    timers = [c["timer"] for c in document(f"-jo0.06 -c{CLOCK}")["counters"] if c["timer"]]
    spent = time.monotonic() - before
    assert [0.06 <= timer["rate"]["seconds"] <= spent for timer in timers] == [True], timers


def tool_survives_floating_point_traps():
    module = os.path.abspath("tests/programs/.libs/trap-module.so")
    divide = "awk 'BEGIN { print 1 / 3 }' >/dev/null 2>&1"
    if subprocess.run(f"test -e {module} && {divide} && ! LD_PRELOAD={module} {divide}",
                      shell=True, stderr=subprocess.DEVNULL).returncode != 0:
        raise Skip("no preloaded library enables traps here")
    if os.environ.get("CPUCYCLES_TEST_UNDER") == "asan":
        raise Skip("AddressSanitizer must be the first library")
    for arguments in (f"--observe 0.01 {ONE_COUNTER}", f"--json {ONE_COUNTER}",
                      f"--plot {ONE_COUNTER}", "--list"):
        run(arguments, LD_PRELOAD=module)


def results_of_benchmarks_follow_their_schema_and_name_the_process():
    if WINDOWS:
        raise Skip("the program forks")
    program = f"{os.environ.get('builddir', '.')}/tests/programs/bench-results"
    processes = set()
    for i in range(2):
        lines = subprocess.run([program, "one", STRANGE], stdout=subprocess.PIPE, check=True).stdout
        results = [parsed(line) for line in lines.decode().splitlines()]
        assert [result["name"] for result in results] == ["one", STRANGE, "child"]
        for result in results:
            assert result["counter"] in names() and abs(result["time"] - time.time()) < 600, result
            moment, number = result["process"].split("-")
            assert abs(int(moment) / 1e6 - time.time()) < 600 and int(number) > 1, result
            _validator("lib/cpucycles-bench.schema.json").validate(result)
        one, other, child = (result["process"] for result in results)
        assert one == other != child, results
        processes.update((one, child))
    assert len(processes) == 4, processes


def recorded_reports_follow_the_schema_and_keep_promises_of_the_selection():
    with open(f"{SOURCE}/doc/platforms.md") as file:
        table = file.read()
    assert recorded.machines(), "there is no report in tests/machines"
    for name, path in recorded.machines():
        with open(path) as file:
            report = parsed(file.read())
        recorded.judge(report)
        assert recorded.row(name, report) in table, f"doc/platforms.md lacks the row of {name}"
        print(f"report: recorded machine {name}: {report['implementation']}")
        _validator(of_this_version=False).validate(report)


def report_of_another_machine_is_recorded_by_one_command():
    _validator()  # skips the test without jsonschema
    report = document()
    table = f"| {'a':25} | by hand |\n"
    with tempfile.TemporaryDirectory() as directory:
        recorded.SOURCE = directory
        os.makedirs(f"{directory}/tests/machines")
        os.mkdir(f"{directory}/doc")
        with open(f"{directory}/doc/platforms.md", "w") as file:
            file.write(table + "\nwords\n")
        # refused: no selected counter, another schema, the name of a row that is not recorded
        for name, content in (("new", report), ("a", report), (".", report), ("new", report),
                              ("unselected", dict(report, implementation="default-zero")),
                              ("malformed", dict(report, implementation_ignored=5))):
            with open(f"{directory}/report", "w") as file:
                json.dump(content, file)
            try:
                recorded.record(name, f"{directory}/report")
                refused = False
            except AssertionError:
                refused = True
            assert refused == (name != "new"), name
        found = [name for name, path in recorded.machines()]
        with open(f"{directory}/doc/platforms.md") as file:
            written = file.read()
    assert found == ["new"] and written == f"{table}{recorded.row('new', report)}\n\nwords\n"


def help_and_version_go_to_standard_output():
    assert once("--help").startswith("usage: cpucycles-info ")
    assert re.search(r"^Report faults to \S.*\.\Z", once("--help").strip(), re.M)
    for option in ("--json", "--plot", "--counter", "--observe", "--check", "--list", "--help",
                   "--version"):
        assert re.search(rf"^  -[a-zA-Z], {option}\b", once("--help"), re.M), option
    version = once("--version")
    assert version.startswith("cpucycles-info (libcpucycles) ")
    assert document(f"--json {ONE_COUNTER}")["version"] == version.splitlines()[0].split()[-1]


def output_that_cannot_be_written_is_an_error():
    if WINDOWS:
        raise Skip("Wine writes through a pipe")
    for arguments in ("--list", "--check"):
        run(arguments, status=1, redirect=">&-")
        assert run.error.startswith("cpucycles-info: cannot write the output"), arguments
    if subprocess.run("test -e /dev/full && ! echo >/dev/full", shell=True,
                      stderr=subprocess.DEVNULL).returncode != 0:
        raise Skip("a full device: /dev/full accepts data, or does not exist")
    for arguments in (f"--json {ONE_COUNTER}", "--list", "--check", "--help", "--version"):
        run(arguments, status=1, redirect=">/dev/full")
        assert run.error == "cpucycles-info: cannot write the output: No space left on device\n"


def _main():
    """Calls each promise, which is each function below HELPERS whose name does not begin with "_".
    Returns the exit status."""
    reads = [time.perf_counter_ns() for i in range(100)]
    while reads[0] == reads[-1]:
        reads.append(time.perf_counter_ns())
    step = min(after - before for before, after in zip(reads, reads[1:]) if after != before)
    if step > 100000:
        print(f"report: skipped: the clock has a step of {step} ns, so clocks pass their trial in "
              "some reports only")
        return 77
    failed = 0
    for name, promise in list(globals().items()):
        if getattr(promise, "__module__", "") != "__main__" or name in HELPERS or name[0] == "_":
            continue
        try:
            promise()
        except Skip as why:
            print(f"report: skipped: {name}: {why}")
        except Exception as error:
            print(f"report: FAILED: {name}: {type(error).__name__}: {error}")
            failed = 1
        else:
            print(f"report: passed: {name}")
    return failed


if __name__ == "__main__":
    sys.exit(_main())
