# SPDX-License-Identifier: 0BSD OR MIT
# The benchmark: built and run by "make bench" alone. BENCHFLAGS are its arguments, such as --strict.

EXTRA_PROGRAMS += bench/bench bench/rate
bench_bench_SOURCES = bench/bench.c bench/inline.h
bench_bench_LDADD = libcpucycles.la
bench_rate_SOURCES = bench/rate.c
bench_rate_LDADD = lib/libcpucycles-core.la $(PTHREAD_LIBS)
CLEANFILES += bench/bench$(EXEEXT) bench/rate$(EXEEXT)

# In libtool's execute mode it is the program itself that runs, with the library of this tree, and not a
# script around it.
.PHONY: bench
bench: bench/bench$(EXEEXT) bench/rate$(EXEEXT)
	$(AM_V_at)$(LIBTOOL) $(AM_LIBTOOLFLAGS) --mode=execute $(LOG_COMPILER) bench/bench$(EXEEXT) $(BENCHFLAGS)
	$(AM_V_at)$(LIBTOOL) $(AM_LIBTOOLFLAGS) --mode=execute $(LOG_COMPILER) bench/rate$(EXEEXT) $(BENCHFLAGS)
	$(AM_V_at)$(MAKE) $(AM_MAKEFLAGS) distdir >/dev/null
	$(AM_V_at)CC='$(CC)' $(SHELL) $(srcdir)/bench/build-time.sh $(distdir)
	$(AM_V_at)rm -rf $(distdir)

dist_noinst_SCRIPTS += bench/build-time.sh
