# SPDX-License-Identifier: 0BSD OR MIT
# The benchmark: built and run by "make bench" alone; "make bench-reads" is its first part.
# BENCHFLAGS are its arguments, such as --strict or --json; BENCH_CPPFLAGS lead to headers that are
# not installed, BENCH_OTHER to another libcpucycles.so.1.

EXTRA_PROGRAMS += bench/bench bench/rate
bench_bench_SOURCES = bench/bench.c bench/bench.h bench/contender.h bench/report.c
bench_bench_LDADD = $(DLOPEN_LIBS)
bench_rate_SOURCES = bench/rate.c
bench_rate_LDADD = lib/libcpucycles-core.la $(PTHREAD_LIBS)
CLEANFILES += bench/bench$(EXEEXT) bench/rate$(EXEEXT)

# A read of a perf event, where there are any.
EXTRA_PROGRAMS += bench/perf
bench_perf_SOURCES = bench/perf.c
bench_perf_LDADD = lib/libcpucycles-core.la $(PTHREAD_LIBS)
CLEANFILES += bench/perf$(EXEEXT)
if PERF_EVENTS
bench_perf = bench/perf$(EXEEXT)
endif

# Contenders, in the order of the table: each kind's first is what the others are compared with.
contenders = plain cpucycles clang chrono benchmark fftw papi likwid other scaled
EXTRA_DIST += bench/inline.h
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
# EOL

bench-reads: bench/bench$(EXEEXT) libcpucycles.la
	$(AM_V_at)CC='$(CC)' CPPFLAGS='$(CPPFLAGS)' CFLAGS='$(CFLAGS)' LDFLAGS='$(LDFLAGS)' \
	  BENCH_CPPFLAGS='$(BENCH_CPPFLAGS)' BENCH_OTHER='$(BENCH_OTHER)' PTHREAD_LIBS='$(PTHREAD_LIBS)' \
	  $(SHELL) $(srcdir)/bench/contenders.sh $(srcdir)
	$(AM_V_at)modules=; for name in $(contenders); do \
	  test ! -f bench/contend-$$name.so || modules="$$modules bench/contend-$$name.so"; done; \
	  BENCH_OTHER='$(BENCH_OTHER)' $(LOG_COMPILER) bench/bench$(EXEEXT) $(BENCHFLAGS) $$modules
CLEANFILES += bench/contend-*.so

# In libtool's execute mode it is the program itself that runs, with the library of this tree, and
# not a script around it.
.PHONY: bench bench-reads
bench: bench-reads bench/rate$(EXEEXT) $(bench_perf)
	$(AM_V_at)case ' $(BENCHFLAGS) ' in *' --strict '*) strict=--strict ;; *) strict= ;; esac; \
	  $(LIBTOOL) $(AM_LIBTOOLFLAGS) --mode=execute $(LOG_COMPILER) bench/rate$(EXEEXT) $$strict
	$(AM_V_at)test -z '$(bench_perf)' || $(LOG_COMPILER) $(bench_perf)
	$(AM_V_at)$(MAKE) $(AM_MAKEFLAGS) distdir >/dev/null
	$(AM_V_at)CC='$(CC)' $(SHELL) $(srcdir)/bench/build-time.sh $(distdir)
	$(AM_V_at)rm -rf $(distdir)

dist_noinst_SCRIPTS += bench/build-time.sh bench/contenders.sh
