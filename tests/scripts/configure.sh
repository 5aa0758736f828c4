#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# What configure decides: configure.sh SOURCE, from a build folder. Which counters are built, by
# their probes, the lists and the cache; that a mistake names its culprit; that the user's flags
# stay the user's.

set -eu
export LC_ALL=C
source=$(cd "$1" && pwd)
work=$(pwd)/check-configure
failed=0
passed=0

rm -rf "$work"
mkdir "$work"
cp -R "$source" "$work/source"
chmod -R u+w "$work/source"
source=$work/source

wrong() { echo "configure: $*"; failed=$((failed + 1)); }

# Configures in a folder of its own: 0 or configure's status. What it said is in $work/out.
configure() {
  rm -rf "$work/build"
  mkdir "$work/build"
  (cd "$work/build" && "$source/configure" -q --cache-file=../cache "$@" >../out 2>&1)
}

built() {
  sed -n 's/^#define HAVE_BACKEND_\([a-z0-9_]*\) 1$/\1/p' "$work/build/config.h" | tr _ - | sort | tr '\n' ' '
}

# accepts NAME "COUNTERS" ARGUMENTS: these counters, and no others, are built
accepts() {
  name=$1 wanted=$2
  shift 2
  if ! configure "$@"; then
    wrong "$name: refused: $(cat "$work/out")"
  elif [ "$(built)" != "$wanted" ]; then
    wrong "$name: built: $(built), expected: $wanted"
  else
    passed=$((passed + 1))
  fi
}

# refuses NAME "WORD" ARGUMENTS: an error that names the word
refuses() {
  name=$1 word=$2
  shift 2
  if configure "$@"; then
    wrong "$name: accepted"
  elif ! grep -q -e "error: .*$word" "$work/out"; then
    wrong "$name: the error does not name $word: $(cat "$work/out")"
  else
    passed=$((passed + 1))
  fi
}

# says NAME "PATTERN": the summary of the last run has such a line
says() {
  if grep -Eq -e "$2" "$work/out"; then
    passed=$((passed + 1))
  else
    wrong "$1: nothing like '$2' in: $(cat "$work/out")"
  fi
}

(cd "$source" && sed -n 's/^CPUCYCLES_BACKEND([^"]*"\([^"]*\)".*/\1/p' backends/backends.def) >"$work/all"
configure || { cat "$work/out"; exit 1; }
usual=$(built)
first=$(echo "$usual" | tr ' ' '\n' | grep -v ^default- | head -n 1)
[ -n "$first" ] || first=default-monotonic
foreign=$(for name in $(cat "$work/all"); do
  case " $usual " in *" $name "*) ;; *) echo "$name" ;; esac
done | head -n 1)
[ -n "$foreign" ] || { echo "configure: every counter is built: which target is this?"; exit 1; }
says "the summary lists what is built" "^    $first\$"
says "the summary says why a counter is dropped" "^    $foreign: the target is not "

accepts "one counter" "$(printf '%s\n' "$first" default-gettimeofday | sort | tr '\n' ' ')" \
  --with-backends="$first"
says "the summary says what the list left out" '^    default-zero: not in --with-backends$'
accepts "two counters, by spaces and commas" \
  "$(printf '%s\n' "$first" default-gettimeofday default-zero | sort | tr '\n' ' ')" \
  --with-backends=" $first,  default-zero "
accepts "the counter of last resort alone" "default-gettimeofday " --with-backends=default-gettimeofday
accepts "all, by name of the option" "$usual" --with-backends
without=$(echo "$usual" | tr ' ' '\n' | grep -vx -e "$first" -e default-zero | tr '\n' ' ' | sed 's/^ *//;s/  *$/ /')
accepts "all but two" "$without" --without-backends="$first,default-zero"
says "the summary says what was left out" "^    $first: left out by --without-backends\$"
accepts "all but two, in the other spelling" "$without" --with-excluded-backends="$first default-zero"
accepts "all left out but the last resort" "default-gettimeofday " \
  --without-backends="$(tr '\n' ',' <"$work/all" | sed 's/,$//')"
says "the last resort is never left out" 'WARNING: default-gettimeofday is the counter of last resort'

refuses "unknown counter" amd64-tcs --with-backends=amd64-tcs
refuses "unknown counter left out" amd64-tcs --without-backends=amd64-tcs
refuses "counter of another target" "$foreign" --with-backends="$first,$foreign"
refuses "pattern for a name" 'counter \*' --with-backends='*'
refuses "empty list" "the list is empty" --with-backends=
refuses "empty list of separators" "the list is empty" --with-backends=' , '
refuses "nothing to leave out" "which ones" --without-backends
refuses "counter both wanted and left out" "$first" --with-backends="$first" --without-backends="$first"

id=$(echo "$first" | tr - _)
accepts "preset by the packager" "$(echo "$usual" | sed "s/$first //")" "cpucycles_cv_backend_$id=no"
says "the summary says that it was preset" "^    $first: cpucycles_cv_backend_$id is preset to no\$"
refuses "counter wanted and preset to no" "$first" --with-backends="$first" "cpucycles_cv_backend_$id=no"

# A typing error in a probe must not become "unsupported".
rm -f "$work/cache"
echo 'int mistake = ;' >>"$source/probes/$first.c"
refuses "mistake in a probe" "$first" --with-backends="$first"
sed -i.bak '$d' "$source/probes/$first.c"
rm -f "$work/cache"

# A mistake in a backend is a build error, whatever its probe says.
accepts "mistake in a backend, at configure" "$usual"
echo 'int mistake = ;' >>"$source/backends/$first.c"
if make -s -C "$work/build" >"$work/out" 2>&1; then
  wrong "mistake in a backend: built"
else
  passed=$((passed + 1))
fi
sed -i.bak '$d' "$source/backends/$first.c"

# A cross build decides as a native one: the build machine is another, and nothing is run.
rm -f "$work/cache"
host=$("$source/build-aux/config.guess")
case $host in
  s390x*) build=x86_64-pc-linux-gnu ;;
  *) build=s390x-ibm-linux-gnu ;;
esac
accepts "cross build" "$usual" --build=$build --host="$host" CC="${CC:-cc}"
grep -A 9 'checking whether we are cross compiling' "$work/build/config.log" | grep -q 'result: yes' ||
  wrong "cross build: was not one"

# The user's flags, and no others, are in CFLAGS.
rm -f "$work/cache"
configure CFLAGS='-O0 -DMINE' LDFLAGS=-L/mine CC="${CC:-cc}" || wrong "flags: refused"
grep -q '^CFLAGS = -O0 -DMINE$' "$work/build/Makefile" || wrong "CFLAGS: $(grep '^CFLAGS =' "$work/build/Makefile")"
grep -q '^LDFLAGS = -L/mine$' "$work/build/Makefile" || wrong "LDFLAGS: $(grep '^LDFLAGS =' "$work/build/Makefile")"
passed=$((passed + 1))

# A linker without version maps exports the same symbols, by a plain list.
rm -f "$work/cache"
variable=$(sed -n 's/^\(ax_cv_check_ldflags__[^=]*version_script[^=]*\)=.*/\1/p' "$work/build/config.log" | head -n 1)
configure "$variable=no" || wrong "no version maps: refused"
if make -s -C "$work/build" >"$work/out" 2>&1 &&
  (cd "$work/build" && srcdir=$source builddir=. sh "$source/tests/scripts/symbols.sh") &&
  ! grep -q '^[^#]*version-script=' "$work/build/Makefile"; then
  passed=$((passed + 1))
else
  wrong "no version maps: $(cat "$work/out")"
fi

# The second library is left out, or asked for and not to be had, and says so; or is there by default.
perfex() {
  if grep -q '^#define HAVE_PERFEX 1$' "$work/build/config.h"; then echo yes; else echo no; fi
}
configure || wrong "libperfex: refused"
with=$(perfex)
accepts "libperfex left out" "$usual" --disable-perfex
[ "$(perfex)" = no ] || wrong "--disable-perfex: it is not left out"
says "the summary says that libperfex was left out" 'libperfex is not built: left out by --disable-perfex$'
make -s -C "$work/build" >"$work/out" 2>&1 && [ ! -f "$work/build/libperfex.la" ] ||
  wrong "--disable-perfex: $(cat "$work/out")"
[ "$with" = no ] || accepts "libperfex asked for" "$usual" --enable-perfex
rm -f "$work/cache"
refuses "libperfex asked for where its probe fails" "libperfex cannot be built here" --enable-perfex \
  cpucycles_cv_perfex=no
accepts "libperfex where its probe fails" "$usual" cpucycles_cv_perfex=no
[ "$(perfex)" = no ] || wrong "libperfex is built where its probe fails"
rm -f "$work/cache"

# Either kind of library alone.
for disabled in shared static; do
  configure --disable-$disabled || wrong "--disable-$disabled: refused"
  if make -s -C "$work/build" >"$work/out" 2>&1 && "$work/build/cpucycles-info/cpucycles-info" >/dev/null; then
    passed=$((passed + 1))
  else
    wrong "--disable-$disabled: $(cat "$work/out")"
  fi
done

rm -rf "$work"
echo "configure: $passed passed, $failed failed"
[ $failed = 0 ]
