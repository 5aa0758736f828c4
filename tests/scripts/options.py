# SPDX-License-Identifier: 0BSD OR MIT
"""Tests the options of cpucycles-info, and where its output goes."""

import os
import re
import subprocess
import sys
import time

import tool
from tool import CLOCK, ONE_COUNTER, WINDOWS, Skip, document, once, run


def _is_full(device):
    """Whether the device exists, and refuses what is written to it."""
    return os.path.exists(device) and subprocess.run(
        f"echo >{device}", shell=True, stderr=subprocess.DEVNULL).returncode != 0


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
    counter = CLOCK
    used = f"cpucycles implementation {counter}\n"
    for arguments in (f"-C -c {counter}", f"-Cc{counter}", f"--ch --co={counter}",
                      f"-Cc {counter} --"):
        assert run(arguments) == used, arguments
    before = time.monotonic()
    timers = [c["timer"] for c in document(f"-jo0.06 -c{counter}")["counters"] if c["timer"]]
    spent = time.monotonic() - before
    assert [0.06 <= timer["rate"]["seconds"] <= spent for timer in timers] == [True], timers


def _divides(**environment):
    """Whether awk divides one by three."""
    done = subprocess.run(["awk", "BEGIN { print 1 / 3 }"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, env=dict(os.environ, **environment))
    return done.returncode == 0


def tool_survives_floating_point_traps():
    module = os.path.abspath("tests/programs/.libs/trap-module.so")
    if not os.path.exists(module) or _divides(LD_PRELOAD=module) or not _divides():
        raise Skip("no preloaded library enables traps here")
    if os.environ.get("CPUCYCLES_TEST_UNDER") == "asan":
        raise Skip("AddressSanitizer must be the first library")
    for arguments in (f"--observe 0.01 {ONE_COUNTER}", f"--json {ONE_COUNTER}",
                      f"--plot {ONE_COUNTER}", "--list"):
        run(arguments, LD_PRELOAD=module)


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
    for arguments in (f"--json {ONE_COUNTER}", "--list", "--check", "--help", "--version"):
        if _is_full("/dev/full"):
            run(arguments, status=1, redirect=">/dev/full")
            assert run.error.startswith("cpucycles-info: cannot write the output: "), arguments
    for arguments in ("--list", "--check"):
        run(arguments, status=1, redirect=">&-")
        assert run.error.startswith("cpucycles-info: cannot write the output"), arguments
    if not _is_full("/dev/full"):
        raise Skip("a full device: /dev/full accepts data, or does not exist")


if __name__ == "__main__":
    sys.exit(tool.main(globals()))
