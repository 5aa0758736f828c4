#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests that the public headers compile alone: cpucycles.h and perfex.h from C89 and C++98 on,
# cpucycles/inline.h and cpucycles/bench.h from C99 and C++11 on. Warnings are errors only if
# CPUCYCLES_TEST_WERROR is -Werror, because newer compilers may warn of more, and must not fail for
# packagers.

set -eu
: "${srcdir:=.}" "${CC:=cc}"
failed=0
work=header.tmp
trap 'rm -rf $work' EXIT
rm -rf $work
mkdir $work
printf '#include <cpucycles.h>\n#include <cpucycles.h>\n' >$work/cpucycles.c
cat >>$work/cpucycles.c <<'END'
extern int use(void);
int use(void)
{
  const struct cpucycles_counter_info *counter = cpucycles_counter(0) ? cpucycles_selected() : 0;

  cpucycles_tracesetup();
  if (cpucycles_section_begin() + cpucycles_section_overhead() > cpucycles_section_end()
    || cpucycles_rate() == 0 || cpucycles_frequency_source() == cpucycles_frequency_ignored())
    return 0;
  /* compares their types, too, because abi.sh does not find that of cpucycles_section_end() */
  if (cpucycles == cpucycles_section_end || cpucycles_core_persecond() > cpucycles_rate())
    return 0;
  if (cpucycles_implementation_ignored() && cpucycles_timer()->invariant == 1)
    return 0;
  return cpucycles() == cpucycles_persecond() && cpucycles_version() == cpucycles_implementation()
    && counter->state == CPUCYCLES_SELECTED;
}
END
cat >$work/inline.c <<'END'
#include <cpucycles/inline.h>
#include <cpucycles/inline.h>
extern long long use(void);
long long use(void)
{
  cpucycles_inline_fence();
  return cpucycles_inline_section_end() - cpucycles_inline_section_begin() - cpucycles_inline()
    - cpucycles_inline_section_overhead();
}
END
# the same calls in an inline function with external linkage
cat >>$work/inline.c <<'END'
inline long long timed(void);
inline long long timed(void)
{
  cpucycles_inline_fence();
  return cpucycles_inline_section_end() - cpucycles_inline_section_begin() - cpucycles_inline()
    + cpucycles_inline_section_overhead();
}
END
cat >$work/bench.c <<'END'
#include <cpucycles/bench.h>
#include <cpucycles/bench.h>
static void work(void *argument)
{
  cpucycles_bench_keep(argument);
  cpucycles_bench_keep(argument == 0 ? 1.5 : 2.5);
}
extern int use(int x);
int use(int x)
{
  struct cpucycles_bench_result result;

  cpucycles_bench_keep(x + 1);
  cpucycles_bench(&result, work, &x);
  cpucycles_bench_print(stdout, "work", &result);
  cpucycles_bench_print_json(stdout, "work", &result);
  return result.samples;
}
END
printf '#include <perfex.h>\n#include <perfex.h>\n' >$work/perfex.c
cat >>$work/perfex.c <<'END'
extern int use(char *name);
int use(char *name)
{
  return load_costs(name) + start_counters(0, 15) + perfex_event("cycles") + perfex_print_table();
}
END
flags="-pedantic -Wall -Wextra -Wundef ${CPUCYCLES_TEST_WERROR-} -I$srcdir/include -fsyntax-only"

# compiles FILE LANGUAGE "STANDARDS" "OPTIONS"
compiles() {
  for std in $3; do
    # words are meant to split
    # shellcheck disable=SC2086
    $CC $CPPFLAGS -x $2 -std=$std $flags $4 $work/$1 ||
      { echo "header: $1: not clean as $std"; failed=1; }
  done
}
compiles cpucycles.c c 'c89 gnu89 c99 c11 c17' ''
compiles perfex.c c 'c89 gnu89 c99 c11 c17' ''
compiles inline.c c 'c99 gnu99 c11 c17' ''
compiles bench.c c 'c99 gnu99 c11 c17' '-Wshadow -Wconversion'
if echo 'int x;' >$work/try.cc && $CC -x c++ -fsyntax-only $work/try.cc 2>/dev/null; then
  compiles cpucycles.c c++ 'c++98 c++11 c++17' -Wold-style-cast
  compiles perfex.c c++ 'c++98 c++11 c++17' -Wold-style-cast
  compiles inline.c c++ 'c++11 c++17' -Wold-style-cast
  compiles bench.c c++ 'c++11 c++17' '-Wold-style-cast -Wshadow -Wconversion'
  echo '#include <cpucycles/inline.h>' >$work/included.c # -Wlong-long also warns of the files above
  compiles included.c c++ c++11 -Wlong-long
else
  echo "header: skipped: C++: this compiler does not compile it"
fi
# Of the macros with "cpucycles" or "perfex" in the name, the headers define only guards and
# documented macros.
left=$(cat $work/*.c | $CC -dM -E -I"$srcdir/include" -x c - |
  sed -n 's/^#define \([A-Za-z0-9_]*\).*/\1/p' |
  grep -i -e '^[A-Z_]*cpucycles' -e '^[A-Z_]*perfex' |
  grep -vx -e LIBCPUCYCLES_H -e LIBCPUCYCLES_INLINE_H -e LIBCPUCYCLES_BENCH_H \
    -e LIBCPUCYCLES_PERFEX_H -e CPUCYCLES_DROPPED -e CPUCYCLES_USABLE -e CPUCYCLES_SELECTED -e cpucycles_bench_keep || :)
[ -z "$left" ] || { echo "header: leaves $left defined"; failed=1; }
# Without GNU C, as in the ABI of MSVC, the functions of inline.h are calls of the library.
echo 'int x;' >$work/try.c
if clang --target=x86_64-pc-windows-msvc -fsyntax-only $work/try.c 2>/dev/null; then
  for static in '' -DCPUCYCLES_STATIC; do
    CC='clang --target=x86_64-pc-windows-msvc' CPPFLAGS=$static
    compiles cpucycles.c c 'c89 c99 c17' ''
    compiles inline.c c 'c99 c17' ''
    compiles cpucycles.c c++ 'c++98 c++11 c++17' -Wold-style-cast
    compiles inline.c c++ 'c++11 c++17' -Wold-style-cast
  done
else
  echo "header: skipped: ABI of MSVC: no clang that compiles for it"
fi
exit $failed
