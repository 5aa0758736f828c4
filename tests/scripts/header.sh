#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests that the public headers compile alone: cpucycles.h from C89 and C++98 on,
# cpucycles/inline.h from C99 and C++11 on. Warnings are errors if CPUCYCLES_TEST_WERROR is -Werror:
# newer compilers may warn of more, and must not fail for packagers.

set -eu
: "${srcdir:=.}" "${CC:=cc}"
failed=0
work=header.tmp
trap 'rm -rf $work' EXIT
rm -rf $work
mkdir $work
printf '#include <cpucycles.h>\n#include <cpucycles.h>\n' >$work/alone.c
cat >>$work/alone.c <<'END'
extern int use(void);
int use(void)
{
  const struct cpucycles_counter_info *counter = cpucycles_counter(0);

  cpucycles_tracesetup();
  if (cpucycles_begin() + cpucycles_overhead() > cpucycles_end() || cpucycles_rate() == 0
    || cpucycles_frequency_source() == cpucycles_frequency_ignored())
    return 0;
  if (cpucycles_core_persecond() > cpucycles_rate())
    return 0;
  if (cpucycles_implementation_ignored() && cpucycles_timer()->invariant == 1)
    return 0;
  return cpucycles() == cpucycles_persecond() && cpucycles_version() == cpucycles_implementation()
    && counter->state == CPUCYCLES_SELECTED;
}
END
cp $work/alone.c $work/alone.cc
cat >$work/inline.c <<'END'
#include <cpucycles/inline.h>
#include <cpucycles/inline.h>
extern long long use(void);
long long use(void)
{
  return cpucycles_inline_end() - cpucycles_inline_begin() - cpucycles_inline() - cpucycles_inline_overhead();
}
END
# in an inline function with external linkage, too
cat >>$work/inline.c <<'END'
inline long long timed(void);
inline long long timed(void)
{
  return cpucycles_inline_end() - cpucycles_inline_begin() - cpucycles_inline()
    + cpucycles_inline_overhead();
}
END
cp $work/inline.c $work/inline.cc
flags="-pedantic -Wall -Wextra -Wundef ${CPUCYCLES_TEST_WERROR-} -I$srcdir/include -fsyntax-only"

for std in c89 gnu89 c99 c11 c17; do
  $CC $CPPFLAGS -std=$std $flags $work/alone.c || { echo "header: not clean as $std"; failed=1; }
done
for std in c99 gnu99 c11 c17; do
  $CC $CPPFLAGS -std=$std $flags $work/inline.c || { echo "header: inline.h: not clean as $std"; failed=1; }
done
if echo 'int x;' >$work/try.cc && $CC -x c++ -fsyntax-only $work/try.cc 2>/dev/null; then
  for std in c++98 c++11 c++17; do
    $CC $CPPFLAGS -std=$std $flags -Wold-style-cast $work/alone.cc || { echo "header: not clean as $std"; failed=1; }
  done
  for std in c++11 c++17; do
    $CC $CPPFLAGS -std=$std $flags -Wold-style-cast $work/inline.cc || { echo "header: inline.h: not clean as $std"; failed=1; }
  done
else
  echo "header: skipped: C++: this compiler does not compile it"
fi
# They define no macros but the documented ones.
left=$(cat $work/alone.c $work/inline.c | $CC -dM -E -I"$srcdir/include" -x c - |
  grep -i '^#define [A-Z_]*cpucycles' | sed 's/^#define \([A-Za-z0-9_]*\).*/\1/' |
  grep -vx -e CPUCYCLES_H -e CPUCYCLES_INLINE_H -e CPUCYCLES_DROPPED -e CPUCYCLES_USABLE -e CPUCYCLES_SELECTED || :)
[ -z "$left" ] || { echo "header: leaves $left defined"; failed=1; }
exit $failed
