# SPDX-License-Identifier: 0BSD OR MIT
# What is below all other directories, compiled once, into three convenience libraries. libcpucycles
# and libperfex each contain objects of them, because a shared library hides their symbols. Programs
# link what they need. For a program that links both static libraries, the linker takes each object
# once, from the first library in which it needs the object.

# What both libraries need.
noinst_LTLIBRARIES += sys/libcommon.la
sys_libcommon_la_SOURCES = \
	sys/clock-sample.h \
	sys/clock-wait.h \
	sys/container.c \
	sys/container.h \
	sys/cpuid.c \
	sys/cpuid.h \
	sys/diagnosis.h \
	sys/early.h \
	sys/emulator.c \
	sys/emulator.h \
	sys/environment.c \
	sys/environment.h \
	sys/file.c \
	sys/file.h \
	sys/guard.h \
	sys/hypervisor.c \
	sys/hypervisor.h \
	sys/kind.c \
	sys/kind.h \
	sys/lock.h \
	sys/machine.c \
	sys/machine.h \
	sys/os-clock.h \
	sys/os-thread.h \
	sys/parse.c \
	sys/parse.h \
	sys/perf/cycles.h \
	sys/perf/event.h \
	sys/perf/kernel.h \
	sys/perf/page.h \
	sys/perf/pmu.c \
	sys/perf/pmu.h \
	sys/perf/register.h \
	sys/perf/remedy.c \
	sys/perf/remedy.h \
	sys/quantile.c \
	sys/quantile.h \
	sys/reasons.def \
	sys/root.c \
	sys/step.h \
	sys/thread-local.h

# What libcpucycles and the tool need, and libperfex does not.
noinst_LTLIBRARIES += sys/libcpu.la
sys_libcpu_la_SOURCES = \
	sys/architecture.c \
	sys/architecture.h \
	sys/chain.c \
	sys/chain.h \
	sys/dependent-add.c \
	sys/dependent-add.h \
	sys/thread-usage.c \
	sys/thread-usage.h

# What libperfex and the tool need, and libcpucycles does not.
noinst_LTLIBRARIES += sys/libtrapped.la
sys_libtrapped_la_SOURCES = sys/trapped-call.c sys/trapped-call.h

# Each kind of system has its own file.
if POSIX
sys_libcommon_la_SOURCES += sys/guard.c sys/os-clock.c sys/os-thread.c
else
sys_libcommon_la_SOURCES += sys/guard-windows.c sys/os-clock-windows.c sys/os-thread-windows.c
endif
if PERF_EVENTS
sys_libcommon_la_SOURCES += sys/perf/cycles.c sys/perf/event.c sys/perf/kernel.c
sys_libtrapped_la_SOURCES += sys/perf/group.c sys/perf/group.h
endif
