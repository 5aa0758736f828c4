# SPDX-License-Identifier: 0BSD OR MIT
# libperfex. Its code is compiled once, into a convenience library that libperfex and the tests
# link.

EXTRA_DIST += perfex/cpucycles-perfex.cmake perfex/events.def perfex/manual.h perfex/probe.c perfex/libperfex.map perfex/perfex-events.7.in

# The pattern includes underscores, because the names for Fortran end in an underscore.
perfex/libperfex.sym: perfex/libperfex.map
	$(AM_V_GEN)$(MKDIR_P) perfex && \
	$(SED) -n '/global:/,/local:/s/^ *\([a-z_]*\);$$/\1/p' $(srcdir)/perfex/libperfex.map >$@-t && \
	mv $@-t $@
CLEANFILES += perfex/libperfex.sym

perfex/perfex-events.7: perfex/perfex-events.7.in perfex/manual.h perfex/events.def
	$(AM_V_GEN)$(MKDIR_P) perfex && \
	$(CPP) -P -I$(srcdir) $(srcdir)/perfex/manual.h | $(manual_lines) >$@-events && \
	$(CPP) -P -I$(srcdir) -DPFX_MANUAL_NONE $(srcdir)/perfex/manual.h | $(manual_lines) >$@-none && \
	$(CPP) -P -I$(srcdir) -DPFX_MANUAL_GENERIC $(srcdir)/perfex/manual.h | $(manual_lines) >$@-names && \
	$(SED) -e '/@EVENTS@/{r $@-events' -e 'd;}' -e '/@NONE@/{r $@-none' -e 'd;}' \
	  -e '/@GENERIC@/{r $@-names' -e 'd;}' \
	  -e 's/@[V]ERSION@/$(VERSION)/' $(srcdir)/perfex/perfex-events.7.in >$@-t && \
	rm -f $@-events $@-none $@-names && mv $@-t $@
CLEANFILES += perfex/perfex-events.7

# The example of libperfex(3), extracted from that manual.
perfex/example.c: perfex/libperfex.3
	$(AM_V_GEN)$(MKDIR_P) perfex && \
	$(SED) -n -e '/^\.\\" example.c$$/,/^\.Ed$$/{' -e '/^\./d' -e 's/\\e/\\/g' -e p -e '}' \
	  $(srcdir)/perfex/libperfex.3 >$@-t && mv $@-t $@
CLEANFILES += perfex/example.c

if PERFEX
# Exceptions of a function whose events are counted pass through perfex/bench.c.
noinst_LTLIBRARIES += perfex/libperfex-core.la
perfex_libperfex_core_la_CFLAGS = $(AM_CFLAGS) $(CPUCYCLES_EXCEPTIONS)
perfex_libperfex_core_la_SOURCES = \
	perfex/bench.c \
	perfex/cost-file.c \
	perfex/cost-measure.c \
	perfex/cost-table.c \
	perfex/cost.h \
	perfex/count.c \
	perfex/count.h \
	perfex/early.c \
	perfex/early.h \
	perfex/events.c \
	perfex/events.h \
	perfex/fortran.c \
	perfex/group.h \
	perfex/names.c \
	perfex/names.h \
	perfex/perfex.c \
	perfex/print.c \
	perfex/why.c \
	perfex/why.h
perfex_libperfex_core_la_LIBADD = sys/libcommon.la sys/libtrapped.la

include_HEADERS += include/perfex.h
lib_LTLIBRARIES += libperfex.la
libperfex_la_SOURCES =
libperfex_la_LIBADD = perfex/libperfex-core.la libcpucycles.la $(PTHREAD_LIBS)
libperfex_la_LDFLAGS = -no-undefined -version-info 1:0:0 $(CPUCYCLES_LDFLAGS)
# Makefile is a dependency because libtool stores --prefix in the library, so a new prefix needs a
# new link.
EXTRA_libperfex_la_DEPENDENCIES = perfex/libperfex.map Makefile
if HAVE_VERSION_SCRIPT
libperfex_la_LDFLAGS += -Wl,--version-script=$(srcdir)/perfex/libperfex.map
else
libperfex_la_LDFLAGS += -export-symbols perfex/libperfex.sym
EXTRA_libperfex_la_DEPENDENCIES += perfex/libperfex.sym
endif

pkgconfig_DATA += perfex/perfex.pc
cmake_DATA += perfex/cpucycles-perfex.cmake
dist_man_MANS += perfex/libperfex.3
man_MANS += perfex/perfex-events.7

check_PROGRAMS += perfex/example
nodist_perfex_example_SOURCES = perfex/example.c
perfex_example_CPPFLAGS = -I$(srcdir)/include
perfex_example_LDADD = libperfex.la
endif
