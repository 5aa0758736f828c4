# SPDX-License-Identifier: 0BSD OR MIT
"""Tests the options of cpucycles-info, where its output goes, and the width of its plots."""

import os
import pty
import re
import select
import subprocess
import sys
import time

import tool
from tool import CLOCK, ONE_COUNTER, WINDOWS, Skip, bars, document, locales, once, run


def _on_terminal(arguments, columns, **environment):
    """Runs the tool on a terminal of this width; returns what it printed there."""
    import fcntl
    import struct
    import termios
    try:
        master, slave = pty.openpty()
    except OSError as error:
        raise Skip(f"no pseudo-terminal can be opened here: {error}") from error
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = tool.environment_with_secrets()
    env.update({"TERM": "xterm"})
    env.update(environment)
    child = subprocess.Popen(f"{tool.TOOL} {arguments}", shell=True, env=env, stdin=slave,
                             stdout=slave, stderr=slave)
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
            ended = child.poll() is not None  # the child may have written just before its end
    assert child.wait() == 0, seen
    os.close(master)
    return seen.decode().replace("\r\n", "\n")


def _is_full(device):
    """Whether the device exists, and refuses what is written to it."""
    return os.path.exists(device) and subprocess.run(
        f"echo >{device}", shell=True, stderr=subprocess.DEVNULL).returncode != 0


def _utf8_locale():
    for name in locales():
        if re.search(r"utf-?8$", name, re.I):
            return name
    raise Skip("no UTF-8 locale is installed")


def wrong_arguments_are_a_usage_error():
    for arguments in ("-x", "--nonsense", "x", "''", "-j x --help", "--json=1", "--c default-zero",
                      "-c nonesuch", "-c ''", "--counter", "-o", "-o x", "-o 0", "--observe -1",
                      "-o nan", "-o inf", "-o 1e9", "-o 1x", "--observe=0x1", "-o ' 1'",
                      "-o 1 -o 2", "-c default-gettimeofday --counter default-zero",
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


def progress_is_printed_on_a_terminal():
    if WINDOWS:
        raise Skip("there is no terminal of Windows here")
    seen = _on_terminal(f"--observe 1 {ONE_COUNTER} >/dev/null", 80)
    assert "default-gettimeofday: 0 of 1 s" in seen, seen
    assert re.search(r"\r {40,}\r$", seen), "the last line of progress is not erased"


def plots_follow_the_width():
    for width in (40, 60, 200):
        chart = run(f"-pc {CLOCK}", COLUMNS=str(width), LC_ALL="C")
        assert chart.startswith(f"{CLOCK}: ") and bars(chart)
        longest = max(len(line) for line in chart.splitlines())
        assert longest <= width, f"{longest} of {width}: {chart}"
        assert longest > width // 2, f"{longest} of {width}"
    if not WINDOWS:
        chart = _on_terminal(f"--plot {ONE_COUNTER}", 60, LC_ALL="C", NO_COLOR="1", COLUMNS="100")
        longest = max(len(line) for line in bars(chart))
        assert 30 < longest <= 60, f"a terminal: {longest} of 60"
        assert "\033" not in chart  # for NO_COLOR


def plot_is_ascii_in_an_ascii_locale():
    assert once(f"--plot {ONE_COUNTER}", LC_ALL="C").isascii()
    if WINDOWS:
        raise Skip("Windows has no such locales")
    chart = run(f"--plot {ONE_COUNTER}", LC_ALL=_utf8_locale())
    assert "\u2588" in chart and "#" not in chart
    assert re.search("[\u2588-\u258f]", chart)


def color_is_for_terminals_only_and_can_be_disabled():
    if WINDOWS:
        raise Skip("there is no terminal of Windows here")
    plot = f"--plot {ONE_COUNTER}"
    seen = _on_terminal(plot, 80, TERM="dumb")
    assert "\033" not in seen
    assert "of 0 s" not in seen  # no progress without --observe
    assert "\033[1m" in _on_terminal(plot, 80, NO_COLOR="")
    assert "\033" not in _on_terminal(plot, 80, NO_COLOR="1")
    assert "\033" not in once(f"--plot {ONE_COUNTER}", LC_ALL="C")


if __name__ == "__main__":
    sys.exit(tool.main(globals()))
