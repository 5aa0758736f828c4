#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests the direction of includes: a directory includes its own files and those of the directories
# in the table below. All files may include config.h, except the installed headers and the probes.
# The suites and their programs test every part and may include any file. Also tests the direction
# of calls: no file of sys/ or backends/ names a function or variable that an object of a higher
# layer defines.

set -eu
export LC_ALL=C
: "${srcdir:=.}" "${builddir:=.}" "${NM:=nm}"

# Rows of "DIRECTORY: directories that it may include". A file's own row overrides the row of its
# directory. The two files of the benchmark that have a row measure internal parts of the library.
directions() {
  cat <<'END'
include:
sys:
probes:
backends: include sys
lib: include sys backends
cpucycles-info: include sys
perfex: include sys
bench: include
bench/contend-scaled.c: include lib
bench/internals.c: include sys backends lib
END
}

# Prints each include that is against the direction, and fails if there is one. An include in quotes
# is a path from the root of the tree, except the include of cpucycles.h in inline.h.
check_includes() {
  awk '
    !/include *[<"]/ {
      row = $1
      sub(/:$/, "", row)
      sub(/^[^:]*: */, "")
      allowed[row] = $0
      next
    }
    {
      file = own = $0
      sub(/:.*/, "", file)
      sub(/\/.*/, "", own)
      may = own " " (file in allowed ? allowed[file] : allowed[own])
      split($0, parts, "\"")
      directory = parts[2]
      sub(/\/.*/, "", directory)
      if (directory == "config.h")
        good = own != "include" && own != "probes"
      else
        good = directory == ".." ? own == "include" : index(" " may " ", " " directory " ")
      if (!good) {
        print "includes: " $0 " is against the direction: " may
        failed = 1
      }
      count++
    }
    END {
      if (!failed)
        print "includes: " count ", none against the direction"
      exit failed || !count
    }'
}

for row in $(directions | sed 's/:.*//'); do
  [ -e "$srcdir/$row" ] || { echo "includes: there is no $row"; exit 1; }
done
includes=$(cd "$srcdir" && find $(directions | sed -n 's/^\([^/]*\):.*/\1/p') -type f \
  \( -name '*.[ch]' -o -name '*.cc' -o -name '*.def' \) -exec \
  grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]' /dev/null {} +)
{
  directions
  echo "$includes" | sed -e 's|<cpucycles|"include/&|' -e 's|<perfex|"include/&|' | grep '"'
} | check_includes
# No header of the system has the name of a file in the tree, where compilers look first.
for header in $(echo "$includes" | sed -n 's/.*<\(.*\)>.*/\1/p' | sort -u); do
  [ ! -f "$srcdir/$header" ] || { echo "includes: <$header> finds a file of this tree"; exit 1; }
done

# defined_names LAYER...: prints the names that the layers' objects define.
defined_names() {
  for layer; do
    shift
    for source in "$srcdir/$layer"/*.c "$srcdir/$layer"/*/*.c; do
      name=${source#"$srcdir/"}
      name=${name%.c}
      for object in "$builddir/$name.o" "$builddir/${name%/*}/.libs/${name##*/}.o"; do
        [ ! -f "$object" ] || set -- "$@" "$object"
      done
    done
  done
  [ $# = 0 ] || $NM -g "$@" | awk 'NF == 3 { print $3 }'
}

# check_names LAYER HIGHER...: prints each use of a higher layer's name in the layer, and fails if
# there is one. Comments, strings, and tags of structures do not count.
check_names() {
  lower=$1
  shift
  names=$(defined_names "$@")
  [ -n "$names" ] || { echo "includes: skipped: names of $*: there is no object to read"; return; }
  set --
  for file in "$srcdir/$lower"/*.[ch] "$srcdir/$lower"/*/*.[ch]; do
    [ ! -f "$file" ] || set -- "$@" "$file"
  done
  echo "$names" | awk -v srcdir="$srcdir" '
    function code_of(line,  code) {
      while (in_comment ? match(line, /\*\//) : match(line, /"([^"\\]|\\.)*"|\/\*/)) {
        if (!in_comment)
          code = code substr(line, 1, RSTART - 1) " "
        in_comment = substr(line, RSTART, 2) == "/*"
        line = substr(line, RSTART + RLENGTH)
      }
      return in_comment ? code : code line
    }
    FILENAME == "-" {
      sub(/^_/, "") # some systems put an underscore before each name of C
      higher[$1]
      next
    }
    FNR == 1 { in_comment = 0 }
    {
      code = code_of($0)
      gsub(/(struct|union|enum)[ \t]+[A-Za-z_0-9]+/, " ", code)
      count = split(code, words, /[^A-Za-z_0-9]+/)
      for (i = 1; i <= count; i++)
        if (words[i] in higher) {
          print "includes: " substr(FILENAME, length(srcdir) + 2) ":" FNR ": " words[i] \
            " is defined in a higher layer"
          failed = 1
        }
    }
    END { exit failed }' - "$@"
}

check_names sys backends lib perfex cpucycles-info
check_names backends lib
