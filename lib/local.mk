# SPDX-License-Identifier: 0BSD OR MIT
# The library. Its code is compiled once, into a convenience library. The tests link the convenience
# library, to reach hidden functions.

# The files through which exceptions of a function that is timed pass.
noinst_LTLIBRARIES += lib/libbench.la
lib_libbench_la_CFLAGS = $(AM_CFLAGS) $(CPUCYCLES_EXCEPTIONS)
lib_libbench_la_SOURCES = \
	lib/bench-meter.c \
	lib/bench-run.c

noinst_LTLIBRARIES += lib/libcpucycles-core.la
lib_libcpucycles_core_la_SOURCES = \
	backends/backend.h \
	backends/backends.def \
	backends/common/cpuinfo.c \
	backends/common/cpuinfo.h \
	backends/manual.h \
	backends/tsc/counter.h \
	backends/tsc/rate.c \
	backends/tsc/reference.c \
	lib/bench.h \
	lib/bench-counter.c \
	lib/bench-judge.c \
	lib/bench-memory.c \
	lib/bench-text.c \
	lib/calibrate.c \
	lib/calibrate.h \
	lib/candidate.c \
	lib/candidate.h \
	lib/core-ratio.c \
	lib/cpucycles.c \
	lib/early.c \
	lib/early.h \
	lib/extend32.c \
	lib/extend32.h \
	lib/frequency.c \
	lib/frequency.h \
	lib/frequency-aix.c \
	lib/frequency-cpuinfo.c \
	lib/frequency-devicetree.c \
	lib/frequency-measure.c \
	lib/frequency-reference.c \
	lib/frequency-solaris.c \
	lib/frequency-sysctl.c \
	lib/frequency-sysfs.c \
	lib/frequency-system.c \
	lib/inline.c \
	lib/process.c \
	lib/process.h \
	lib/reader.h \
	lib/reasons.c \
	lib/reasons.h \
	lib/request.c \
	lib/request.h \
	lib/scale.c \
	lib/scale.h \
	lib/section.c \
	lib/select.c \
	lib/select.h \
	lib/table.c \
	lib/table.h \
	lib/timer.c \
	lib/timer.h
# The counters of perf events share these files.
if PERF_EVENTS
lib_libcpucycles_core_la_SOURCES += \
	backends/perf/open.c \
	backends/perf/read.c
endif
EXTRA_lib_libcpucycles_core_la_SOURCES = $(CPUCYCLES_BACKEND_SOURCES)
lib_libcpucycles_core_la_LIBADD = $(CPUCYCLES_BACKEND_OBJECTS) lib/libbench.la sys/libcpu.la sys/libcommon.la
lib_libcpucycles_core_la_DEPENDENCIES = $(CPUCYCLES_BACKEND_OBJECTS) lib/libbench.la sys/libcpu.la sys/libcommon.la

include_HEADERS += include/cpucycles.h
inlineincludedir = $(includedir)/cpucycles
inlineinclude_HEADERS = include/cpucycles/bench.h include/cpucycles/inline.h
lib_LTLIBRARIES += libcpucycles.la
libcpucycles_la_SOURCES =
libcpucycles_la_LIBADD = lib/libcpucycles-core.la $(PTHREAD_LIBS) $(CPUCYCLES_LIBADD)
# The soname is libcpucycles.so.1, like that of the public-domain libcpucycles, whose interface this
# library includes.
libcpucycles_la_LDFLAGS = -no-undefined -version-info 1:0:0 $(CPUCYCLES_LDFLAGS)
# Makefile is a dependency because libtool stores --prefix in the library, so a new prefix needs a
# new link.
EXTRA_libcpucycles_la_DEPENDENCIES = lib/libcpucycles.map Makefile
if HAVE_VERSION_SCRIPT
libcpucycles_la_LDFLAGS += -Wl,--version-script=$(srcdir)/lib/libcpucycles.map
else
libcpucycles_la_LDFLAGS += -export-symbols lib/libcpucycles.sym
EXTRA_libcpucycles_la_DEPENDENCIES += lib/libcpucycles.sym
endif
if !POSIX
# libgcc, which implements thread-local variables, is linked statically, so that the library does
# not need the DLL of libgcc.
libcpucycles_la_LDFLAGS += -Wc,-static-libgcc
endif
EXTRA_DIST += lib/libcpucycles.map

# The symbols of the map as a plain list, for linkers without version maps.
lib/libcpucycles.sym: lib/libcpucycles.map
	$(AM_V_GEN)$(MKDIR_P) lib && \
	$(SED) -n '/global:/,/local:/s/^ *\(cpucycles[a-z_]*\);$$/\1/p' $(srcdir)/lib/libcpucycles.map >$@-t && \
	mv $@-t $@
CLEANFILES += lib/libcpucycles.sym

pkgconfig_DATA += lib/cpucycles.pc
# CMake looks for files of this name here, below each prefix.
cmakedir = $(libdir)/cmake/cpucycles
cmake_DATA = lib/cpucycles-config.cmake lib/cpucycles-config-version.cmake

dist_man_MANS += lib/cpucycles-bench.3
dist_pkgdata_DATA += lib/cpucycles-bench.schema.json
man_MANS += lib/cpucycles.3 lib/cpucycles-internals.7
EXTRA_DIST += lib/cpucycles.3.in lib/cpucycles-internals.7.in
CLEANFILES += lib/cpucycles.3 lib/cpucycles-internals.7

# The version is that of this makefile. configure would replace VERSION between at signs here, too,
# so the pattern contains brackets.
lib/cpucycles.3: lib/cpucycles.3.in Makefile
	$(AM_V_GEN)$(MKDIR_P) lib && \
	$(SED) 's/@[V]ERSION@/$(VERSION)/' $(srcdir)/lib/cpucycles.3.in >$@-t && mv $@-t $@

# Lists the counters of backends.def.
lib/cpucycles-internals.7: lib/cpucycles-internals.7.in backends/manual.h backends/backends.def Makefile
	$(AM_V_GEN)$(MKDIR_P) lib && \
	$(CPP) -P -I$(srcdir) $(srcdir)/backends/manual.h | $(manual_lines) >$@-list && \
	$(SED) -e '/@COUNTERS@/{r $@-list' -e 'd;}' -e 's/@[V]ERSION@/$(VERSION)/' \
	  $(srcdir)/lib/cpucycles-internals.7.in >$@-t && \
	rm -f $@-list && mv $@-t $@
