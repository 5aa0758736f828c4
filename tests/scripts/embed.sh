#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests the build without configure: the lower part of embed/config.h follows from the probes;
# embed/config.h chooses what configure chose; README's command compiles all files without a warning,
# also where there are no perf events, and its program has the counters of the library.
# "embed.sh --record" makes the lower part of embed/config.h.

set -eu
. "${srcdir:=.}/tests/scripts/begin.sh"
source=$(cd "$srcdir" && pwd)
mkdir $work/linux

# The condition of each probe: its #if with #error, and perf events if it includes their header.
make_config() {
  sed '/^\/\* Made from/q' embed/config.h
  echo '#undef PACKAGE_VERSION'
  sed -n 's/^AC_INIT(\[[a-z]*], \[\([0-9]*\)].*/#define PACKAGE_VERSION "\1"/p' configure.ac
  awk '
    function finish() {
      if (id && conditions)
        printf "#ifdef HAVE_BACKEND_%s\n#elif %s\n#define HAVE_BACKEND_%s 0\n#else\n" \
          "#define HAVE_BACKEND_%s 1\n#endif\n", id, conditions, id, id
      else if (id) # the last resorts
        printf "#undef HAVE_BACKEND_%s\n#define HAVE_BACKEND_%s 1\n", id, id
      conditions = ""
    }
    function add(condition) { conditions = conditions (conditions ? " || " : "") condition }
    FNR == 1 { finish(); id = FILENAME; gsub(/.*\/|\.c$/, "", id); gsub("-", "_", id) }
    /^#ifndef / { condition = "!defined " $2 }
    /^#if / { condition = substr($0, 5) }
    /^#error / { add(condition) }
    /^#include <linux\/perf_event.h>/ { add("!defined HAVE_PERF_EVENTS") }
    END { finish() }' \
    $(sed -n 's|^CPUCYCLES_BACKEND([^"]*"\([^"]*\)".*|probes/\1.c|p' backends/backends.def)
}

(cd "$source" && make_config) >$work/made
if [ "${1-}" = --record ]; then
  cp $work/made "$source/embed/config.h"
  exit
fi
cmp $work/made "$source/embed/config.h" ||
  wrong "embed/config.h does not follow from the probes: run sh tests/scripts/embed.sh --record"

# The macros that embed/config.h defines, except counters if configure was given a list of them.
names='HAVE_[A-Za-z_0-9]*' limited=
case $("$builddir/config.status" --config) in
  *backend*) names='HAVE_[_A-Z][A-Z_0-9]*' limited=1 ;;
esac
grep -oE "^#define ($names|CPUCYCLES_POSIX|PACKAGE_VERSION) " "$source/embed/config.h" |
  sort -u >$work/names
echo '#include <config.h>' >$work/chosen.c
chosen() {
  $CC $CPPFLAGS $CFLAGS -I"$1" -dM -E $work/chosen.c >$work/macros &&
    grep -F -f $work/names $work/macros | sort
}
chosen "$source/embed" >$work/embedded
chosen "$builddir" >$work/configured
diff $work/configured $work/embedded >$work/out ||
  wrong "configure (<) and embed/config.h (>) differ: $(cat $work/out)"
[ "$(grep -c ' 1$' $work/embedded)" -ge 3 ] || wrong "embed/config.h chooses nothing"

# The files, without and with perf events. If a file lacks its guard, it does not compile.
ln -s "$source" $work/cpucycles
cp "$source/tests/programs/counters.c" $work/time.c
echo '#error this target has no perf events' >$work/linux/perf_event.h
command=$(sed -n "/-Icpucycles\/embed/{N;s/\\\\\n//;s/^ *cc \(.*\)/\1$EXEEXT/p;}" "$source/README")
warnings="-Wall -Wextra -pedantic $CPUCYCLES_TEST_WERROR"
compile() { (cd $work && eval "$CC $warnings $* $CPPFLAGS $CFLAGS $LDFLAGS") >$work/out 2>&1; }
for flags in "-U__linux__ -I. -O0 $PTHREAD_LIBS" "$PTHREAD_LIBS"; do
  compile "$command $flags" || wrong "README's command fails with $flags"
  ! grep . $work/out || wrong "README's command has printed this with $flags"
done

# Under an emulator, the state of a counter depends on the speed of the host.
case $CPUCYCLES_TEST_UNDER in qemu) columns=1 ;; *) columns=1- ;; esac
counters_of() { $LOG_COMPILER "$1" 2>$work/out | cut -d ' ' -f $columns; }
if [ -n "$limited" ] || [ -z "$(counters_of tests/programs/counters$EXEEXT)" ]; then
  skipped "comparison of counters: configure has a list, or programs do not run here"
  exit $failed
fi
# On a busy machine, the state of a counter can vary.
for try in 1 2 3 4 5 6 7 8; do
  counters_of tests/programs/counters$EXEEXT >$work/built
  counters_of $work/time$EXEEXT >$work/own
  ! diff $work/built $work/own >$work/out || exit $failed
done
wrong "the library (<) and README's command (>) differ: $(cat $work/out)"
exit $failed
