# SPDX-License-Identifier: 0BSD OR MIT
# The benchmark. "make bench" builds and runs bench/bench, bench/cycles and bench/internals.
# "make bench-reads" and "make bench-cycles" build and run only one of the first two.
# BENCHFLAGS: --strict, to fail if a bound is not met; --quick, for fewer processes of bench/cycles.
# BENCH_CPPFLAGS: -I for headers that are not installed.
# BENCH_OTHER: path of another libcpucycles.so.1, for comparison.

EXTRA_PROGRAMS += bench/bench bench/cycles bench/internals
bench_bench_SOURCES = bench/bench.c bench/bench.h bench/contender.h bench/print.c bench/print.h
bench_bench_LDADD = sys/libcommon.la $(DLOPEN_LIBS)
bench_cycles_SOURCES = bench/cycles.c bench/cycles.h bench/cycles-known.c bench/cycles-load.c
bench_cycles_SOURCES += bench/time.h
bench_cycles_LDADD = lib/libcpucycles-core.la $(PTHREAD_LIBS) $(DLOPEN_LIBS)
bench_internals_LDADD = lib/libcpucycles-core.la $(PTHREAD_LIBS)
CLEANFILES += bench/bench$(EXEEXT) bench/cycles$(EXEEXT) bench/internals$(EXEEXT)

# Contenders, in the order of the table. Each is compared with the first contender of its kind.
contenders = plain cpucycles clang chrono benchmark fftw papi likwid other scaled
EXTRA_DIST += bench/instruction.h
EXTRA_DIST += bench/contend-plain.c
EXTRA_DIST += bench/contend-cpucycles.c
EXTRA_DIST += bench/contend-clang.c
EXTRA_DIST += bench/contend-chrono.cc
EXTRA_DIST += bench/contend-benchmark.cc
EXTRA_DIST += bench/contend-fftw.c
EXTRA_DIST += bench/contend-papi.c
EXTRA_DIST += bench/contend-likwid.c
EXTRA_DIST += bench/contend-other.c
EXTRA_DIST += bench/contend-scaled.c

# Other benchmarks, for bench/cycles.
EXTRA_DIST += bench/time-benchmark.cc bench/time-nanobench.cc

.PHONY: bench bench-cycles bench-modules bench-reads
bench-modules: libcpucycles.la lib/libcpucycles-core.la
	$(AM_V_at)CC='$(CC)' CPPFLAGS='$(CPPFLAGS)' CFLAGS='$(CFLAGS)' LDFLAGS='$(LDFLAGS)' \
	  BENCH_CPPFLAGS='$(BENCH_CPPFLAGS)' BENCH_OTHER='$(BENCH_OTHER)' PTHREAD_LIBS='$(PTHREAD_LIBS)' \
	  $(SHELL) $(srcdir)/bench/contenders.sh $(srcdir)
CLEANFILES += bench/contend-*.so

bench_find_strict = case ' $(BENCHFLAGS) ' in *' --strict '*) strict=--strict ;; *) strict= ;; esac

bench-reads: bench/bench$(EXEEXT) bench-modules
	$(AM_V_at)$(bench_find_strict); modules=; for name in $(contenders); do \
	  test ! -f bench/contend-$$name.so || modules="$$modules bench/contend-$$name.so"; done; \
	  BENCH_OTHER='$(BENCH_OTHER)' $(LOG_COMPILER) bench/bench$(EXEEXT) $$strict $$modules

bench-cycles: bench/cycles$(EXEEXT) bench-modules
	$(AM_V_at)$(LOG_COMPILER) bench/cycles$(EXEEXT) $(BENCHFLAGS)

bench: bench-reads bench-cycles bench/internals$(EXEEXT)
	$(AM_V_at)$(bench_find_strict); $(LOG_COMPILER) bench/internals$(EXEEXT) $$strict

dist_noinst_SCRIPTS += bench/contenders.sh
