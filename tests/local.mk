# SPDX-License-Identifier: 0BSD OR MIT
# Tests. A suite is a file suites/check_NAME.c and its line below; a script is scripts/NAME.sh and
# its line below. fuzz/ has the fuzzer, programs/ the programs and modules that suites and scripts
# run. LOG_COMPILER runs the programs of a cross build, but the scripts themselves run without it.

TEST_EXTENSIONS = .sh
# How long the tests take when they are compiled, measured on two CPUs, and beside other builds. Not
# for a few TESTS, nor under tools.
check-local:
	@set -- $(TESTS); [ $$# -lt 10 ] || [ "$$CPUCYCLES_TEST_UNDER$$CPUCYCLES_TEST_MS" ] || { \
	  echo 'The tests take about 30 s on an idle machine, and up to 5 minutes on a busy one.'; \
	  echo 'Lines with "skipped:" say what is not tested here, why, and what to install.'; }
if !HAVE_CHECK
	@echo 'skipped: all suites: Check is not installed (Debian: check, pkg-config)'
endif
SH_LOG_COMPILER = $(SHELL) $(srcdir)/tests/scripts/show-skips.sh $(SHELL)
# Descriptor 9 is the console, on which suites print their totals, time and skips, and scripts some
# skips.
AM_TESTS_FD_REDIRECT = 9>&2

EXTRA_DIST += tests/suites/child.h tests/suites/counters.h
EXTRA_DIST += tests/suites/machine.h tests/suites/one-clock.h tests/suites/one-cpu.h
EXTRA_DIST += tests/suites/suite.h
EXTRA_DIST += tests/suites/suite-windows.h tests/suites/cpuid.h
EXTRA_DIST += tests/suites/page-faults.h tests/suites/perf-kernel.h
EXTRA_DIST += tests/abi tests/hosts tests/machines tests/ports
dist_noinst_SCRIPTS += tests/scripts/show-skips.sh tests/scripts/wine.sh

# Suites that do not run on Windows. Most need signals, fork or files, which Windows does not have.
posix_tests =
posix_tests += tests/suites/check_bench
posix_tests += tests/suites/check_first_call
posix_tests += tests/suites/check_examine
posix_tests += tests/suites/check_frequency
posix_tests += tests/suites/check_perfevent
posix_tests += tests/suites/check_ports
posix_tests += tests/suites/check_printers
posix_tests += tests/suites/check_process
posix_tests += tests/suites/check_remedies
posix_tests += tests/suites/check_guard

tests_suites_check_bench_LDADD = $(LDADD) -lm
tests_suites_check_first_call_LDADD = $(LDADD) -lm

# Suites of libperfex.
perfex_tests =
perfex_tests += tests/suites/check_perfex_costs
perfex_tests += tests/suites/check_perfex_events
perfex_tests += tests/suites/check_perfex_groups

tests_suites_check_perfex_costs_LDADD = perfex/libperfex-core.la $(LDADD) -lm
tests_suites_check_perfex_events_LDADD = perfex/libperfex-core.la $(LDADD)
tests_suites_check_perfex_groups_LDADD = perfex/libperfex-core.la $(LDADD)

if HAVE_CHECK
suite_tests =
suite_tests += tests/suites/check_bench_text
suite_tests += tests/suites/check_extend32
suite_tests += tests/suites/check_grain
suite_tests += tests/suites/check_inline
suite_tests += tests/suites/check_section
suite_tests += tests/suites/check_select
suite_tests += tests/suites/check_simulated_clock
suite_tests += tests/suites/check_reported_rates
if POSIX
suite_tests += $(posix_tests)
else
suite_tests += tests/suites/check_windows
endif
if PERFEX
suite_tests += $(perfex_tests)
endif
check_PROGRAMS += $(suite_tests)
TESTS += $(suite_tests)
endif

# The flags of Check are for the suites only.
suite_cppflags = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_suites_check_examine_CPPFLAGS = $(suite_cppflags)
tests_suites_check_extend32_CPPFLAGS = $(suite_cppflags)
tests_suites_check_first_call_CPPFLAGS = $(suite_cppflags)
tests_suites_check_frequency_CPPFLAGS = $(suite_cppflags)
tests_suites_check_grain_CPPFLAGS = $(suite_cppflags)
tests_suites_check_guard_CPPFLAGS = $(suite_cppflags)
tests_suites_check_inline_CPPFLAGS = $(suite_cppflags)
tests_suites_check_perfevent_CPPFLAGS = $(suite_cppflags)
tests_suites_check_perfex_costs_CPPFLAGS = $(suite_cppflags)
tests_suites_check_perfex_events_CPPFLAGS = $(suite_cppflags)
tests_suites_check_perfex_groups_CPPFLAGS = $(suite_cppflags)
tests_suites_check_printers_CPPFLAGS = $(suite_cppflags)
tests_suites_check_process_CPPFLAGS = $(suite_cppflags)
tests_suites_check_remedies_CPPFLAGS = $(suite_cppflags)
tests_suites_check_bench_CPPFLAGS = $(suite_cppflags)
tests_suites_check_bench_text_CPPFLAGS = $(suite_cppflags)
tests_suites_check_section_CPPFLAGS = $(suite_cppflags)
tests_suites_check_select_CPPFLAGS = $(suite_cppflags)
tests_suites_check_simulated_clock_CPPFLAGS = $(suite_cppflags)
tests_suites_check_windows_CPPFLAGS = $(suite_cppflags)

# Files of the libraries that call functions of other systems, compiled with stub headers of these
# systems.
tests_suites_check_reported_rates_SOURCES = tests/suites/check_reported_rates.c
tests_suites_check_reported_rates_SOURCES += backends/tsc/rate.c lib/frequency-system.c
tests_suites_check_reported_rates_SOURCES += lib/frequency-aix.c lib/frequency-solaris.c
tests_suites_check_reported_rates_SOURCES += lib/frequency-sysctl.c
tests_suites_check_reported_rates_CPPFLAGS = -I$(srcdir)/tests/ports/freq-headers -DHAVE_SYSCTLBYNAME=1
tests_suites_check_reported_rates_CPPFLAGS += -DHAVE_HW_CPUSPEED=1 -DHAVE_LIBPERFSTAT=1
tests_suites_check_reported_rates_CPPFLAGS += -DHAVE_PROCESSOR_INFO=1 $(suite_cppflags)

check_PROGRAMS += tests/programs/counters
if POSIX
check_PROGRAMS += tests/programs/persecond tests/programs/trapping
check_PROGRAMS += tests/programs/bench-results
check_LTLIBRARIES += tests/suites/libports.la
endif
# report.py preloads this module, which enables floating-point traps.
tests_programs_trap_module_la_SOURCES = tests/programs/trap-module.c
tests_programs_trap_module_la_LDFLAGS = -module -avoid-version -rpath /nowhere
tests_programs_trap_module_la_LIBADD = -lm
tests_programs_counters_LDADD = lib/libcpucycles-core.la $(PTHREAD_LIBS)
tests_programs_persecond_LDADD = lib/libcpucycles-core.la $(PTHREAD_LIBS)
tests_programs_trapping_LDADD =
# report.py validates what this program prints.
tests_programs_bench_results_LDADD = lib/libcpucycles-core.la $(PTHREAD_LIBS)

# Counters of other systems, compiled with stub headers of these systems. libports.la comes after
# the library, so that a system which has one of these counters links its own counter.
ports_cppflags = -I$(srcdir)/tests/ports/counter-headers $(AM_CPPFLAGS)
tests_suites_libports_la_SOURCES = backends/default-mach.c backends/default-selfcounts.c
tests_suites_libports_la_SOURCES += backends/default-windows.c
tests_suites_libports_la_CPPFLAGS = $(ports_cppflags) -DHAVE_BACKEND_default_mach=1
tests_suites_libports_la_CPPFLAGS += -DHAVE_BACKEND_default_selfcounts=1
tests_suites_libports_la_CPPFLAGS += -DHAVE_BACKEND_default_windows=1
tests_suites_check_ports_SOURCES = tests/suites/check_ports.c lib/reasons.c
tests_suites_check_ports_CPPFLAGS = $(ports_cppflags) $(CHECK_CFLAGS)
tests_suites_check_ports_LDADD = $(LDADD) tests/suites/libports.la

# check_process loads perf-module.
if PERF_EVENTS # which implies Linux
check_LTLIBRARIES += tests/programs/perf-module.la tests/programs/trap-module.la
endif
tests_programs_perf_module_la_SOURCES = tests/programs/perf-module.c
tests_programs_perf_module_la_LDFLAGS = -module -avoid-version -rpath /nowhere
tests_programs_perf_module_la_LIBADD = lib/libcpucycles-core.la $(PTHREAD_LIBS) $(DLOPEN_LIBS)
tests_suites_check_guard_LDADD = $(LDADD) $(DLOPEN_LIBS)
tests_suites_check_process_LDADD = $(LDADD) $(DLOPEN_LIBS)
# Without -fexceptions, C functions have no cleanup to run while the stack is unwound.
tests_suites_check_first_call_CFLAGS = $(AM_CFLAGS) -fexceptions

# tests/cross/count is not part of "make check". check-cross, check-systems and check-vm build and
# run it.
EXTRA_PROGRAMS += tests/cross/count
tests_cross_count_LDADD = lib/libcpucycles-core.la $(PTHREAD_LIBS)
CLEANFILES += tests/cross/count$(EXEEXT)
EXTRA_DIST += tests/cross/expected tests/apt.sh

# Hosts that "make check-hosts" simulates, and what they share. hosts.sh compiles the hosts in C.
dist_noinst_SCRIPTS += tests/scripts/hosts.sh
clean-local:
	rm -rf hosts.tmp

# Only "make check-vm" builds and runs this program.
EXTRA_PROGRAMS += tests/vm/vm-test
tests_vm_vm_test_LDADD = libcpucycles.la $(PTHREAD_LIBS)
if PERFEX
tests_vm_vm_test_LDADD += libperfex.la
endif
CLEANFILES += tests/vm/vm-test$(EXEEXT)
dist_noinst_SCRIPTS += tests/vm/get-kernels tests/vm/run
EXTRA_DIST += tests/vm/guests tests/vm/kernels tests/vm/idle-states.dts tests/vm/cortex-a15-pmu.dts

# LDADD is for programs without an LDADD of their own.
LDADD = cpucycles-info/libcpucycles-info.la lib/libcpucycles-core.la $(CHECK_LIBS) $(PTHREAD_LIBS)

# Variables for the scripts.
AM_TESTS_ENVIRONMENT = \
	srcdir='$(srcdir)'; builddir=.; CC='$(CC)'; CPPFLAGS='$(CPPFLAGS)'; CFLAGS='$(CFLAGS)'; \
	LDFLAGS='$(LDFLAGS)'; NM='$(NM)'; PTHREAD_LIBS='$(PTHREAD_LIBS)'; LOG_COMPILER='$(LOG_COMPILER)'; \
	EXEEXT='$(EXEEXT)'; OBJDUMP='$(OBJDUMP)'; TOOL='$(tool)'; \
	export srcdir builddir CC CPPFLAGS CFLAGS LDFLAGS NM PTHREAD_LIBS LOG_COMPILER; \
	LC_ALL=C; export EXEEXT OBJDUMP TOOL LC_ALL;

# The tool in the build directory: a script of libtool's, or a program that needs a LOG_COMPILER.
if POSIX
tool = cpucycles-info/cpucycles-info
else
tool = $(LOG_COMPILER) cpucycles-info/cpucycles-info$(EXEEXT)
endif

# Scripts whose result can depend on the host. check-hosts also runs these scripts.
host_scripts =
host_scripts += tests/scripts/opened-files.sh
host_scripts += tests/scripts/report.sh
host_scripts += tests/scripts/settings.sh

script_tests = $(host_scripts)
script_tests += tests/scripts/abi.sh
script_tests += tests/scripts/compare-runs.sh
script_tests += tests/scripts/embed.sh
script_tests += tests/scripts/exceptions.sh
script_tests += tests/scripts/header.sh
script_tests += tests/scripts/calls.sh
script_tests += tests/scripts/linked.sh
script_tests += tests/scripts/languages.sh
script_tests += tests/scripts/lists.sh
script_tests += tests/scripts/probes.sh
script_tests += tests/scripts/readme.sh
script_tests += tests/scripts/symbols.sh

TESTS += $(script_tests)
dist_check_SCRIPTS += $(script_tests)

perfex_script_tests =
perfex_script_tests += tests/scripts/perfex.sh

if PERFEX
TESTS += $(perfex_script_tests)
check_PROGRAMS += tests/programs/perfex-print
endif
tests_programs_perfex_print_LDADD = perfex/libperfex-core.la lib/libcpucycles-core.la
tests_programs_perfex_print_LDADD += $(PTHREAD_LIBS)
dist_check_SCRIPTS += $(perfex_script_tests)
# What the scripts run and compile.
EXTRA_DIST += tests/programs/early.c tests/programs/perfex-fortran.f90 tests/programs/dropin.c
EXTRA_DIST += tests/programs/inline-client.c tests/programs/inline-main.c
EXTRA_DIST += tests/scripts/report.py tests/scripts/recorded.py
EXTRA_DIST += tests/scripts/begin.sh tests/scripts/valgrind.supp

# Texts and manual pages, and static analysis of the files that are compiled on this system.
dist_noinst_SCRIPTS += tests/scripts/words.sh tests/scripts/manuals.sh tests/scripts/analysis.sh
EXTRA_DIST += .clang-format .clang-tidy
.PHONY: check-analysis
check-analysis: config.h $(man_MANS)
	$(AM_V_at)srcdir='$(srcdir)' $(SHELL) $(srcdir)/tests/scripts/words.sh
	$(AM_V_at)srcdir='$(srcdir)' $(SHELL) $(srcdir)/tests/scripts/manuals.sh
	$(AM_V_at)srcdir='$(srcdir)' $(SHELL) $(srcdir)/tests/scripts/analysis.sh \
	  $(sys_libcommon_la_SOURCES) $(sys_libcpu_la_SOURCES) $(sys_libtrapped_la_SOURCES) \
	  $(lib_libcpucycles_core_la_SOURCES) $(lib_libbench_la_SOURCES) $(CPUCYCLES_BACKEND_OBJECTS) \
	  $(cpucycles_info_cpucycles_info_SOURCES) $(cpucycles_info_libcpucycles_info_la_SOURCES) \
	  $(perfex_libperfex_core_la_SOURCES)

# check-fuzz runs the fuzzer for FUZZ_SECONDS. It needs clang. If there is a directory of recorded
# machines (tests/fuzz/fuzz.sh), their files are inputs, too.
FUZZ_CC = clang
FUZZ_SECONDS = 60
EXTRA_DIST += tests/fuzz/fuzz.c
dist_noinst_SCRIPTS += tests/fuzz/fuzz.sh
.PHONY: check-fuzz
check-fuzz: config.h
	$(AM_V_at)$(MKDIR_P) tests/fuzz
	$(AM_V_at)srcdir='$(srcdir)' FUZZ_CC='$(FUZZ_CC)' \
	  $(SHELL) $(srcdir)/tests/fuzz/fuzz.sh $(FUZZ_SECONDS)
