# SPDX-License-Identifier: 0BSD OR MIT
"""Tests the output of cpucycles-info: JSON against the shipped schema and against the plain lines,
plots of every width, each counter forced in turn. Prints a line for each promise."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import time

TOOL = os.environ["TOOL"]
SOURCE = os.environ["srcdir"]
WINDOWS = os.environ.get("EXEEXT") == ".exe"
failures = []
skips = []


class Skip(Exception):
    pass


def usual_environment():
    ours = ("COLUMNS", "NO_COLOR", "CPUCYCLES_IMPLEMENTATION")
    return {key: value for key, value in os.environ.items() if key not in ours}


def run(arguments="", status=0, redirect="", **environment):
    """Runs the tool; returns what it printed."""
    env = usual_environment()
    env.update(environment)
    done = subprocess.run(f"{TOOL} {arguments} {redirect}", shell=True, env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == status, f"{arguments}: exit status {done.returncode}, {done.stderr!r}"
    run.error = done.stderr.decode()
    return done.stdout.decode()


def on_terminal(arguments, columns, **environment):
    """Runs the tool on a terminal of this width; returns what it printed there."""
    import fcntl
    import struct
    import termios
    try:
        master, slave = pty.openpty()
    except OSError as error:
        raise Skip(f"no pseudo-terminal can be opened here: {error}") from error
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = usual_environment()
    env.update({"TERM": "xterm"})
    env.update(environment)
    child = subprocess.Popen(f"{TOOL} {arguments}", shell=True, env=env, stdin=slave, stdout=slave,
                             stderr=slave)
    os.close(slave)
    seen = b""
    ended = False
    while True:
        if select.select([master], [], [], 0.1)[0]:
            try:
                part = os.read(master, 65536)
            except OSError:
                break
            if not part:
                break
            seen += part
        elif ended:
            break
        else:
            ended = child.poll() is not None  # it may have written just before
    assert child.wait() == 0, seen
    os.close(master)
    return seen.decode().replace("\r\n", "\n")


def locales():
    done = subprocess.run(["locale", "-a"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout.decode().split()


def comma_locale():
    for name in locales():
        if re.match(r"(de|fr|es|it|nl|pl)_", name):
            return name
    raise Skip("no locale with a decimal comma is installed")


def utf8_locale():
    for name in locales():
        if re.search(r"utf-?8$", name, re.I):
            return name
    raise Skip("no UTF-8 locale is installed")


def no_constant(text):
    raise AssertionError(f"{text} is no JSON")


def document(arguments="--json", **environment):
    def once(pairs):
        assert len(dict(pairs)) == len(pairs), f"a member occurs twice: {[p[0] for p in pairs]}"
        return dict(pairs)
    return json.loads(run(arguments, **environment), object_pairs_hook=once,
                      parse_constant=no_constant)


def names():
    return run("--list").split()


def forbid_other_members(schema):
    """Returns the schema, changed so that it forbids members that it does not name."""
    if isinstance(schema, dict):
        schema = {key: forbid_other_members(value) for key, value in schema.items()}
        if "properties" in schema:
            schema["additionalProperties"] = False
    elif isinstance(schema, list):
        schema = [forbid_other_members(value) for value in schema]
    return schema


def validate(report):
    with open(f"{SOURCE}/cpucycles-info/cpucycles-info.schema.json") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(report, forbid_other_members(schema), cls=jsonschema.Draft7Validator)


def differs(value, other):
    """Whether two numbers differ by more than one percent."""
    return abs(value - other) > 0.01 * abs(other)


# Promises.

def json_follows_the_shipped_schema():
    validate(document())
    validate(document(CPUCYCLES_IMPLEMENTATION="nonesuch", cpucyclespersecond="junk"))


def schema_refuses_other_reports():
    report = document()
    for change in (lambda r: r.pop("warnings"), lambda r: r.update(format=2),
                   lambda r: r.update(more=1), lambda r: r["counters"][0].update(kind="other"),
                   lambda r: r["iqm"]["differences"].pop(),
                   lambda r: r["counters"][0].update(reason="because")):
        changed = json.loads(json.dumps(report))
        change(changed)
        try:
            validate(changed)
        except jsonschema.ValidationError:
            continue
        raise AssertionError("a report that breaks the schema is accepted")


def text_of_any_kind_is_a_json_string():
    for name in ('a"b\\c', "a\tb", "\x1b[1m", "\u00e9", "x" * 500):
        skipped = document(CPUCYCLES_IMPLEMENTATION=name)["implementation_skipped"]
        assert skipped.endswith(" is no counter of this library"), skipped
    skipped = document(CPUCYCLES_IMPLEMENTATION='a"b\\c')["implementation_skipped"]
    assert skipped.startswith('a"b\\c '), skipped


def json_agrees_with_the_plain_lines():
    report = document()
    lines = run().splitlines()
    traced = [line.split() for line in lines if line.startswith("cpucycles tracesetup ")]
    persecond = int(re.search(r"^cpucycles persecond (\d+)$", "\n".join(lines), re.M).group(1))
    assert [words[3] for words in traced] == [c["name"] for c in report["counters"]] == names()
    only32 = ["1" if c["width"] == 32 else "0" for c in report["counters"]]
    assert [words[9] for words in traced] == only32
    for words, counter in zip(traced, report["counters"]):
        assert (words[5] == "0") == (counter["precision"] == 0), words
        # Proportional to the estimate of the frequency if the counter is scaled.
        scaling = float(words[7])
        assert not differs(scaling, counter["scaling"]) or not differs(
            scaling / persecond, counter["scaling"] / report["frequency"]["persecond"]), words
    used = [c["name"] for c in report["counters"] if c["state"] == "selected"]
    assert used == [report["implementation"]]
    assert f"cpucycles implementation {used[0]}" in lines
    assert f"cpucycles frequency source {report['frequency']['source']}" in lines
    for counter in report["counters"]:
        prefix = f"cpucycles dropped {counter['name']} "
        dropped = [line for line in lines if line.startswith(prefix)]
        assert len(dropped) == (counter["state"] == "dropped"), counter["name"]
        if dropped:
            said = f"{counter['reason']}: {counter['explanation']}"
            assert dropped[0].startswith(prefix + said), dropped
            for more in ("signal", "error", "remedy"):
                assert not counter[more] or counter[more] in dropped[0], dropped
        if counter["timer"]:
            assert (f"cpucycles timer {counter['name']} counts {counter['unit']}; "
                    f"kind {counter['kind']}, scope {counter['scope']}") in lines, counter["name"]
        prefix = f"cpucycles timer {counter['name']} "
        has_line = any(line.startswith(prefix) for line in lines)
        assert (counter["timer"] is not None) == has_line, counter["name"]
    system = report["system"]
    kernel = " ".join(filter(None, (system["kernel"], system["release"])))
    assert f"cpucycles system kernel {kernel}" in lines
    assert (f"cpucycles system architecture {system['architecture']}, {system['word_bits']} bits, "
            f"{system['byte_order']}-endian") in lines
    for key in ("libc", "hypervisor", "container", "emulator"):
        assert f"cpucycles system {key} {system[key] or 'none found'}" in lines, key
    warnings = [line for line in lines if line.startswith("cpucycles warning ")]
    assert len(warnings) == len(report["warnings"])
    assert all(line.startswith("cpucycles ") for line in lines)


def core_frequency_is_reported_beside_the_counted_rate():
    report = document()
    core = report["core"]
    kind = [c["kind"] for c in report["counters"] if c["state"] == "selected"][0]
    assert core["is_counted"] == (kind in ("core", "perf read")), core
    frequency = core["persecond_after"] or core["persecond_before"]
    is_known = bool(frequency and core["counted_persecond"])
    assert (core["cycles_per_counted_cycle"] is not None) == is_known, core
    if is_known:
        ratio = frequency / core["counted_persecond"]
        assert abs(core["cycles_per_counted_cycle"] / ratio - 1) < 1e-3, core
        warned = any("but the core runs at" in warning for warning in report["warnings"])
        assert warned == (not core["is_counted"] and not 0.98 < ratio < 1.02), report["warnings"]


def decimal_comma_of_the_locale_changes_nothing():
    locale = comma_locale()
    report = document(LC_ALL=locale)
    trace = r"cpucycles tracesetup \d+ \S+ precision \d+ scaling \d+\.\d{6} only32 [01]"
    assert re.fullmatch(trace, run(LC_ALL=locale).splitlines()[1])
    assert report["counters"][0]["scaling"] >= 0
    assert "0,05" not in run(LC_ALL=locale)
    assert [c["name"] for c in report["counters"]] == names()
    run("--observe 0.06 --json", LC_ALL=locale)


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
        assert timer["differences"]["below_zero"] >= 0
        order = [timer["differences"][key] for key in
                 ("lowest", "lower_quartile", "median", "upper_quartile", "highest")]
        assert order == sorted(order), order
        assert timer["step"] > 0, timer
        assert abs(timer["step_units"] * counter["scaling"] - timer["step"]) <= 1, timer
        if timer["grain"]:
            grain = timer["grain"]
            assert grain["share"] >= 0.7 and grain["units"] >= 2, timer
            assert abs(grain["units"] * counter["scaling"] / grain["cycles"] - 1) < 0.001, timer
        assert timer["rate"]["measured"] and timer["rate"]["seconds"] >= 0.05, timer
        assert timer["rate"]["uncertainty_ppm"] < 100000
        assert timer["overhead"] >= 0
        assert timer["rate"]["stated"] or timer["rate"]["stated_source"] is None
        assert timer["read"]["cycles"] > 0 and timer["read"]["nanoseconds"] > 0
        assert (timer["invariant"] is None) == (timer["invariant_source"] is None)
        if timer["rate"]["stated"]:
            off = (timer["rate"]["measured"] / timer["rate"]["stated"] - 1) * 1e6
            assert abs(off - timer["rate"]["off_ppm"]) < 1 + 1e6 / timer["rate"]["stated"], timer
        else:
            assert timer["rate"]["off_ppm"] is None
        if counter["kind"] == "clock":
            assert timer["invariant"] is True and timer["rate"]["stated"] > 0
            # measured against another clock, which may be set and slewed; the machine may be busy
            assert abs(timer["rate"]["off_ppm"]) < 50000, timer


def step_and_unit_are_reported_separately():
    counter = [c for c in document()["counters"] if c["name"] == "default-gettimeofday"][0]
    if counter["timer"] is None:
        raise Skip("default-gettimeofday is not examined here")
    assert counter["unit"] == "microseconds", counter
    assert abs(counter["timer"]["step_units"] - 1) < 0.01, counter
    assert counter["timer"]["step"] >= counter["scaling"] - 1


def hops_visit_the_allowed_cpus():
    if not hasattr(os, "sched_getaffinity"):
        raise Skip("this system has no sched_getaffinity")
    allowed = sorted(os.sched_getaffinity(0))
    report = document("--json --counter default-gettimeofday")
    timer = [c for c in report["counters"] if c["timer"]][0]["timer"]
    if WINDOWS:
        assert timer["across_cpus"] is None
        raise Skip("the tool does not read the set of CPUs of Windows")
    if len(allowed) == 1:
        assert timer["across_cpus"] is None
        raise Skip("only one CPU is allowed")
    across = timer["across_cpus"]
    assert across["cpus"] == len(allowed), timer
    assert across["hops"] >= len(allowed)
    assert across["monotonic"] == (across["largest_step_back"] == 0), timer
    taskset = ["taskset", "-c", str(allowed[0]), "true"]
    if subprocess.run(taskset, stderr=subprocess.DEVNULL).returncode != 0:
        raise Skip("one CPU only: taskset is not installed")
    global TOOL
    tool = TOOL
    try:
        TOOL = f"taskset -c {allowed[0]} {tool}"
        report = document()
    finally:
        TOOL = tool
    assert report["cpu"]["allowed"] == 1
    assert all(c["timer"] is None or c["timer"]["across_cpus"] is None for c in report["counters"])


def each_counter_can_be_forced():
    for name in names():
        for report in (document(f"--json --counter {name}"),
                       document(CPUCYCLES_IMPLEMENTATION=name)):
            if jsonschema:
                validate(report)
            counter = [c for c in report["counters"] if c["name"] == name][0]
            examined = [c["name"] for c in report["counters"] if c["timer"]]
            assert counter["reason"] != "not-asked"
            if report["implementation"] == name:
                assert report["implementation_skipped"] is None and counter["state"] == "selected"
                assert examined == [name], examined
                others = {c["reason"] for c in report["counters"] if c["name"] != name}
                assert others <= {"not-asked"}
            else:
                assert counter["state"] == "dropped"
                skipped = f"{name} does not work here: {counter['reason']}"
                assert report["implementation_skipped"] == skipped
                assert name not in examined
        assert run(f"--counter={name} --plot")
    assert document("--counter default-zero --json")["counters"][-1]["timer"] is None


def wrong_arguments_are_a_usage_error():
    for arguments in ("--counter nonesuch", "--counter ''", "--counter", "--observe", "--observe x",
                      "--observe 0", "--observe -1", "--observe nan", "--observe inf",
                      "--observe 1e9", "--observe 1x", "--observe=0x1", "--observe ' 1'",
                      "--observe 1 --observe 2",
                      "--counter default-gettimeofday --counter default-zero",
                      "--check --counter default-gettimeofday --counter=default-gettimeofday",
                      "--json --plot", "--list --json", "--list --counter default-zero",
                      "--check --observe 1", "--help --version", "--jso", "--counterx", "--", "x"):
        assert run(arguments, status=2) == "", arguments
        assert run.error.startswith("cpucycles-info: "), arguments
        assert "usage: " in run.error


def check_has_status_1_if_a_clock_is_selected():
    kinds = {c["name"]: c["kind"] for c in document()["counters"]}
    used = run("--check", status=int(kinds[document()["implementation"]] in ("clock", "none")))
    assert used == f"cpucycles implementation {document()['implementation']}\n", used
    clock = run("--check --counter default-gettimeofday", status=1)
    assert clock == "cpucycles implementation default-gettimeofday\n"
    assert run("--check", status=1, CPUCYCLES_IMPLEMENTATION="default-gettimeofday")
    for counter in document()["counters"]:
        if counter["state"] != "dropped" and counter["kind"] not in ("clock", "none"):
            run(f"--check --counter={counter['name']}")


def help_and_version_go_to_standard_output():
    assert run("--help").startswith("usage: cpucycles-info ") and run.error == ""
    for option in ("--json", "--plot", "--counter", "--observe", "--check", "--list", "--help",
                   "--version"):
        assert re.search(rf"^  {option}\b", run("--help"), re.M), option
    assert run("--version").startswith("cpucycles-info (libcpucycles) ") and run.error == ""
    assert document()["version"] == run("--version").splitlines()[0].split()[-1]


def output_that_cannot_be_written_is_an_error():
    if WINDOWS:
        raise Skip("Wine writes through a pipe")
    for arguments in ("", "--json", "--plot", "--list", "--check", "--help", "--version"):
        if os.path.exists("/dev/full"):
            run(arguments, status=1, redirect=">/dev/full")
            assert run.error.startswith("cpucycles-info: cannot write the report: "), arguments
        run(arguments, status=1, redirect=">&-")
        assert run.error.startswith("cpucycles-info: cannot write the report"), arguments


def observation_has_the_requested_length():
    before = time.monotonic()
    report = document("--json --observe 0.3 --counter default-gettimeofday")
    timers = [c["timer"] for c in report["counters"] if c["timer"]]
    assert len(timers) == 1
    assert 0.3 <= timers[0]["rate"]["seconds"] <= time.monotonic() - before
    assert run.error == ""


def progress_is_printed_on_a_terminal_only():
    if WINDOWS:
        raise Skip("there is no terminal of Windows here")
    run("--observe 1 --counter default-gettimeofday --check", status=2)
    run("--observe 1 --counter default-gettimeofday")
    assert run.error == ""
    seen = on_terminal("--observe 1 --counter default-gettimeofday >/dev/null", 80)
    assert "default-gettimeofday: 0 of 1 s" in seen, seen
    assert seen.endswith("\r"), "the last line of progress is not erased"
    assert "of 0 s" not in on_terminal("--counter default-gettimeofday >/dev/null", 80)


def bars(chart):
    return [line for line in chart.splitlines() if re.match(r" *-?\d+(\.\.-?\d+)? +\d+( |$)", line)]


def plots_follow_the_width(columns=(40, 80, 132, 200)):
    for width in columns:
        chart = run("--plot", COLUMNS=str(width), LC_ALL="C")
        assert bars(chart)
        longest = max(len(line) for line in bars(chart))
        assert longest <= width, f"{longest} of {width}: {chart}"
        assert longest > width // 2, f"{longest} of {width}"
        if not WINDOWS:
            chart = on_terminal("--plot", width, LC_ALL="C", NO_COLOR="1", COLUMNS="60")
            longest = max(len(line) for line in bars(chart))
            assert width // 2 < longest <= width, f"a terminal: {longest} of {width}"


def plot_has_each_working_counter():
    chart = run("--plot", LC_ALL="C")
    heads = re.findall(r"^(\S+): 10000 differences of adjacent reads, in cycles$", chart, re.M)
    assert heads == [c["name"] for c in document()["counters"] if c["timer"]]
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


def plot_is_ascii_in_an_ascii_locale():
    assert run("--plot", LC_ALL="C").isascii()
    if WINDOWS:
        raise Skip("Windows has no such locales")
    chart = run("--plot", LC_ALL=utf8_locale())
    assert "\u2588" in chart and "#" not in chart
    assert re.search("[\u2588-\u258f]", chart)


def color_is_for_terminals_only_and_can_be_disabled():
    if WINDOWS:
        raise Skip("there is no terminal of Windows here")
    assert "\033[1m" in on_terminal("--plot", 80)
    assert "\033" not in on_terminal("--plot", 80, NO_COLOR="1")
    assert "\033" not in on_terminal("--plot", 80, TERM="dumb")
    assert "\033[1m" in on_terminal("--plot", 80, NO_COLOR="")
    assert "\033" not in run("--plot")


def nothing_identifies_person_or_host():
    secrets = {"HOME": "/secret-home", "USER": "secret-user", "LOGNAME": "secret-user",
               "HOSTNAME": "secret-host", "container": "secret-container"}
    if WINDOWS:
        del secrets["HOME"]  # Wine needs its own
    for arguments in ("", "--json", "--plot"):
        said = run(arguments, **secrets)
        assert "secret" not in said
        assert os.getcwd() not in said
        assert not re.search(r"(?i)\bserial\b", said)
    shell = ["unshare", "--uts", "sh", "-c", f"hostname secret-host && {TOOL} && {TOOL} --json"]
    try:
        done = subprocess.run(shell, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except FileNotFoundError:
        done = None
    if not done or done.returncode != 0:
        raise Skip("another host name: unshare --uts is not permitted or not installed")
    assert b"secret" not in done.stdout


def examination_is_bounded_by_count():
    # a bound on rounds over CPUs and on reads, not on time
    for counter in document()["counters"]:
        hops = counter["timer"] and counter["timer"]["across_cpus"]
        if hops:
            assert hops["cpus"] <= hops["hops"] <= 100 * hops["cpus"], hops


def main():
    for name, promise in list(globals().items()):
        is_ours = getattr(promise, "__module__", None) == "__main__"
        if not is_ours or name in HELPERS or not callable(promise):
            continue
        if not jsonschema and name.startswith(("json_follows", "schema_")):
            skips.append(f"{name}: python3-jsonschema is not installed")
            continue
        try:
            promise()
        except Skip as why:
            skips.append(f"{name}: {why}")
        except Exception as error:
            failures.append(f"{name}: {type(error).__name__}: {error}")
        else:
            print(f"report: passed: {name}")
    for line in skips:
        print(f"report: skipped: {line}")
        try:
            os.write(9, f"skipped: report: {line}\n".encode())
        except OSError:
            pass
    for line in failures:
        print(f"report: FAILED: {line}")
    return 1 if failures else 0


HELPERS = ("Skip", "usual_environment", "run", "on_terminal", "locales", "comma_locale",
           "utf8_locale", "no_constant", "document", "names", "forbid_other_members", "validate",
           "differs", "bars", "main")

try:
    import jsonschema
except ImportError:
    jsonschema = None

if __name__ == "__main__":
    sys.exit(main())
