# SPDX-License-Identifier: 0BSD OR MIT
# The counters, each with two lines. doc/adding-a-counter.md describes how to add one. configure
# decides which of the backends are compiled.

CPUCYCLES_BACKEND_SOURCES =
CPUCYCLES_PROBES =

# Headers of the code that several counters share. lib/local.mk lists the rest of these headers.
EXTRA_DIST += backends/common/mips-cc.h
EXTRA_DIST += backends/common/rate.h
EXTRA_DIST += backends/common/riscv-cycle.h
EXTRA_DIST += backends/common/riscv-perf.h
EXTRA_DIST += backends/common/riscv-timebase.h
EXTRA_DIST += backends/perf/counter.h
EXTRA_DIST += backends/perf/thread.h

CPUCYCLES_BACKEND_SOURCES += backends/amd64-pmc.c
CPUCYCLES_PROBES += probes/amd64-pmc.c

CPUCYCLES_BACKEND_SOURCES += backends/amd64-pmcff.c
CPUCYCLES_PROBES += probes/amd64-pmcff.c

CPUCYCLES_BACKEND_SOURCES += backends/amd64-rdpru.c
CPUCYCLES_PROBES += probes/amd64-rdpru.c

CPUCYCLES_BACKEND_SOURCES += backends/amd64-tsc.c
CPUCYCLES_PROBES += probes/amd64-tsc.c

CPUCYCLES_BACKEND_SOURCES += backends/amd64-tscasm.c
CPUCYCLES_PROBES += probes/amd64-tscasm.c

CPUCYCLES_BACKEND_SOURCES += backends/x86-tsc.c
CPUCYCLES_PROBES += probes/x86-tsc.c

CPUCYCLES_BACKEND_SOURCES += backends/x86-tscasm.c
CPUCYCLES_PROBES += probes/x86-tscasm.c

CPUCYCLES_BACKEND_SOURCES += backends/arm64-perfpmc.c
CPUCYCLES_PROBES += probes/arm64-perfpmc.c

CPUCYCLES_BACKEND_SOURCES += backends/arm64-pmc.c
CPUCYCLES_PROBES += probes/arm64-pmc.c

CPUCYCLES_BACKEND_SOURCES += backends/arm64-vct.c
CPUCYCLES_PROBES += probes/arm64-vct.c

CPUCYCLES_BACKEND_SOURCES += backends/arm32-cortex.c
CPUCYCLES_PROBES += probes/arm32-cortex.c

CPUCYCLES_BACKEND_SOURCES += backends/arm32-1176.c
CPUCYCLES_PROBES += probes/arm32-1176.c

CPUCYCLES_BACKEND_SOURCES += backends/arm32-vct.c
CPUCYCLES_PROBES += probes/arm32-vct.c

CPUCYCLES_BACKEND_SOURCES += backends/riscv64-perfrdcycle.c
CPUCYCLES_PROBES += probes/riscv64-perfrdcycle.c

CPUCYCLES_BACKEND_SOURCES += backends/riscv64-rdcycle.c
CPUCYCLES_PROBES += probes/riscv64-rdcycle.c

CPUCYCLES_BACKEND_SOURCES += backends/riscv64-rdtime.c
CPUCYCLES_PROBES += probes/riscv64-rdtime.c

CPUCYCLES_BACKEND_SOURCES += backends/riscv32-perfrdcycle.c
CPUCYCLES_PROBES += probes/riscv32-perfrdcycle.c

CPUCYCLES_BACKEND_SOURCES += backends/riscv32-rdcycle.c
CPUCYCLES_PROBES += probes/riscv32-rdcycle.c

CPUCYCLES_BACKEND_SOURCES += backends/riscv32-rdtime.c
CPUCYCLES_PROBES += probes/riscv32-rdtime.c

CPUCYCLES_BACKEND_SOURCES += backends/loong64-rdtime.c
CPUCYCLES_PROBES += probes/loong64-rdtime.c

CPUCYCLES_BACKEND_SOURCES += backends/mips64-cc.c
CPUCYCLES_PROBES += probes/mips64-cc.c

CPUCYCLES_BACKEND_SOURCES += backends/mips32-cc.c
CPUCYCLES_PROBES += probes/mips32-cc.c

CPUCYCLES_BACKEND_SOURCES += backends/ppc64-mftb.c
CPUCYCLES_PROBES += probes/ppc64-mftb.c

CPUCYCLES_BACKEND_SOURCES += backends/ppc32-mftb.c
CPUCYCLES_PROBES += probes/ppc32-mftb.c

CPUCYCLES_BACKEND_SOURCES += backends/s390x-stckf.c
CPUCYCLES_PROBES += probes/s390x-stckf.c

CPUCYCLES_BACKEND_SOURCES += backends/sparc64-rdtick.c
CPUCYCLES_PROBES += probes/sparc64-rdtick.c

CPUCYCLES_BACKEND_SOURCES += backends/alpha-rpcc.c
CPUCYCLES_PROBES += probes/alpha-rpcc.c

CPUCYCLES_BACKEND_SOURCES += backends/hppa-cr16.c
CPUCYCLES_PROBES += probes/hppa-cr16.c

CPUCYCLES_BACKEND_SOURCES += backends/ia64-itc.c
CPUCYCLES_PROBES += probes/ia64-itc.c

CPUCYCLES_BACKEND_SOURCES += backends/default-selfcounts.c
CPUCYCLES_PROBES += probes/default-selfcounts.c

CPUCYCLES_BACKEND_SOURCES += backends/default-perfevent.c
CPUCYCLES_PROBES += probes/default-perfevent.c

CPUCYCLES_BACKEND_SOURCES += backends/default-mach.c
CPUCYCLES_PROBES += probes/default-mach.c

CPUCYCLES_BACKEND_SOURCES += backends/default-windows.c
CPUCYCLES_PROBES += probes/default-windows.c

CPUCYCLES_BACKEND_SOURCES += backends/default-monotonic.c
CPUCYCLES_PROBES += probes/default-monotonic.c

CPUCYCLES_BACKEND_SOURCES += backends/default-gettimeofday.c
CPUCYCLES_PROBES += probes/default-gettimeofday.c

CPUCYCLES_BACKEND_SOURCES += backends/default-zero.c
CPUCYCLES_PROBES += probes/default-zero.c
