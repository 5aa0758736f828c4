#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests the direction of includes: a directory includes its own files and those of the directories
# in the table below. All files may include config.h, except the installed headers and the probes.
# The suites and their programs test every part and may include any file. Also tests, in
# the objects of the build, that no object uses a name of a higher layer, and that the objects of a
# directory do not use each other in a circle.

set -eu
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
# is a path from the root of the tree, except in installed headers.
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
        good = directory == ".." || directory == "inline.h" ? own == "include" : index(" " may " ", " " directory " ")
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

# names: prints rows of "FILE TYPE NAME" for the external names in the objects of the build. A type
# U, v or w is a use, and each other type is a definition. With libtool, the shared object counts.
names() {
  for source in $(cd "$srcdir" && ls sys/*.c backends/*.c backends/*/*.c lib/*.c perfex/*.c \
    cpucycles-info/*.c bench/*.c); do
    name=${source%.c}
    object=$builddir/${name%/*}/.libs/${name##*/}.o
    [ -f "$object" ] || object=$builddir/$name.o
    [ ! -f "$object" ] || $NM -g "$object" | awk -v file="$name" 'NF >= 2 { print file, $(NF - 1), $NF }'
  done
}

# Prints each circle of uses between the objects of a directory, and each use of a name of a higher
# layer, and fails if there is one.
names | awk '
  function directory_of(file) { sub(/\/[^\/]*$/, "", file); return file }
  function layer_of(file) { sub(/\/.*/, "", file); return file }
  BEGIN {
    rank["sys"] = 1
    rank["backends"] = 2
    rank["lib"] = rank["perfex"] = 3
    rank["cpucycles-info"] = rank["bench"] = 4
  }
  { files[$1] }
  $2 ~ /^[Uvw]$/ { use[++uses] = $0; next }
  { definer[$3] = $1 }
  END {
    for (i = 1; i <= uses; i++) {
      split(use[i], row, " ")
      if (!(row[3] in definer) || definer[row[3]] == row[1])
        continue
      to = definer[row[3]]
      if (rank[layer_of(to)] > rank[layer_of(row[1])]) {
        print "includes: " row[1] " uses " row[3] " of " to ", which is a higher layer"
        failed = 1
      }
      if (directory_of(to) == directory_of(row[1]))
        edge[row[1] " " to] = row[3]
    }
    # an object that uses no other object is in no circle
    do {
      removed = 0
      for (pair in edge) {
        split(pair, ends, " ")
        busy[ends[1]]
      }
      for (pair in edge) {
        split(pair, ends, " ")
        if (!(ends[2] in busy)) {
          delete edge[pair]
          removed = 1
        }
      }
      for (file in busy)
        delete busy[file]
    } while (removed)
    for (pair in edge) {
      split(pair, ends, " ")
      print "includes: circle: " ends[1] " uses " edge[pair] " of " ends[2]
      failed = 1
    }
    if (!uses)
      print "includes: skipped: uses of names: there is no object to read"
    exit failed
  }'
