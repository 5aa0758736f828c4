# SPDX-License-Identifier: 0BSD OR MIT
"""Runs cpucycles-info for report.py, and prints a line for each promise that it tests. Tests that
need the same report share one run of the tool. What does not depend on the number of counters is
tested with one counter."""

import functools
import json
import os
import re
import subprocess
import sys
import time

TOOL = os.environ["TOOL"]
CLOCK = "default-gettimeofday"
ONE_COUNTER = f"--counter {CLOCK}"
SOURCE = os.environ["srcdir"]
KINDS_THAT_FAIL_THE_CHECK = ("clock", "none")  # of --check
WINDOWS = os.environ.get("EXEEXT") == ".exe"


class Skip(Exception):
    pass


def environment_with_secrets():
    """Returns the environment without our settings, and with markers in place of values that
    identify a person or a host. No report may contain the markers."""
    ours = ("CPUCYCLES_IMPLEMENTATION", "cpucyclespersecond")
    environment = {key: value for key, value in os.environ.items() if key not in ours}
    environment.update(USER="secret-user", LOGNAME="secret-user", HOSTNAME="secret-host",
                       container="secret-container")
    if not WINDOWS:  # Wine needs its own HOME
        environment["HOME"] = "/secret-home"
    return environment


def run(arguments="", status=0, redirect="", **environment):
    """Runs the tool; returns what it printed."""
    env = environment_with_secrets()
    env.update(environment)
    done = subprocess.run(f"{TOOL} {arguments} {redirect}", shell=True, env=env,
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


def clock_step():
    """The smallest difference of two reads of the clock that differ, in nanoseconds."""
    steps = []
    before = time.perf_counter_ns()
    while len(steps) < 5:
        now = time.perf_counter_ns()
        if now != before:
            steps.append(now - before)
        before = now
    return min(steps)


def no_constant(text):
    raise AssertionError(f"{text} is not JSON")


def document(arguments="--json", **environment):
    def each_once(pairs):
        assert len(dict(pairs)) == len(pairs), f"a member occurs twice: {[p[0] for p in pairs]}"
        return dict(pairs)
    return json.loads(once(arguments, **environment), object_pairs_hook=each_once,
                      parse_constant=no_constant)


def names():
    return once("--list").split()


def bars(chart):
    """The lines of a plot that have bars."""
    return [line for line in chart.splitlines() if re.match(r" *-?\d+(\.\.-?\d+)? +\d+( |$)", line)]


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


def skip(script, line):
    print(f"{script}: skipped: {line}")


def main(names_of_script):
    """Calls each promise of the script, which is each function whose name does not begin with "_".
    Returns the exit status."""
    script = os.path.basename(sys.argv[0])[:-len(".py")]
    step = clock_step()
    if step > 100000:
        print(f"{script}: skipped: the clock has a step of {step} ns, so clocks pass their trial "
              "in some reports only")
        return 77
    failed = 0
    for name, promise in list(names_of_script.items()):
        if getattr(promise, "__module__", None) != "__main__" or name.startswith("_"):
            continue
        try:
            promise()
        except Skip as why:
            skip(script, f"{name}: {why}")
        except Exception as error:
            print(f"{script}: FAILED: {name}: {type(error).__name__}: {error}")
            failed = 1
        else:
            print(f"{script}: passed: {name}")
    return failed
