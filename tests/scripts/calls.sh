#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests, in the objects of the build, the direction of calls: an object uses internal names only of
# its own layer and of the layers below that HACKING permits, and the objects of a directory do not
# use each other in a circle.

set -eu
. "${srcdir:=.}/tests/scripts/begin.sh"
: >$work/pairs

# Prints the objects of the build. With libtool, the shared object counts. The names of objects with
# flags of their own begin with the name of their library.
objects() {
  for source in $(cd "$srcdir" && ls sys/*.c sys/*/*.c backends/*.c backends/*/*.c lib/*.c perfex/*.c \
    cpucycles-info/*.c bench/*.c); do
    directory=${source%/*} name=${source##*/}
    name=${name%.c}.o
    for object in "$directory/.libs/$name" "$directory/.libs"/*_la-"$name" "$directory/$name" \
      "$directory"/*_la-"$name"; do
      case $object in */tests_*) continue ;; esac
      [ -f "$object" ] || continue
      echo "$object"
      break
    done
  done
}

# Prints rows of "FILE TYPE NAME" for the external names in the objects. A type U, v or w is a use,
# and each other type is a definition.
names() {
  (cd "$builddir" && $NM -A -g $(objects)) |
    sed -n 's|/\.libs/|/|; s|/[a-z_]*_la-|/|; s|^\(.*\)\.o: *[0-9a-f]* \([A-Za-z]\) |\1 \2 |p'
}

# Prints each use of a name that is not of a lower layer, and fails if there is one. Stores the uses
# between the objects of a directory.
names | awk -v pairs=$work/pairs '
  function directory_of(file) { sub(/\/[^\/]*$/, "", file); return file }
  function layer_of(file) { sub(/\/.*/, "", file); return file }
  BEGIN {
    # the layers that each layer may use; those above lib may use public names of lib, too
    below["sys"] = ""
    below["backends"] = "sys"
    below["lib"] = "sys backends"
    below["perfex"] = below["cpucycles-info"] = "sys lib:public"
    below["bench"] = "sys backends lib"
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
      below_it = " " layer_of(row[1]) " " below[layer_of(row[1])] " "
      layer = layer_of(to) (row[3] ~ /^cpucycles/ ? ":public" : "")
      if (!index(below_it, " " layer_of(to) " ") && !index(below_it, " " layer " ")) {
        print "calls: " row[1] " uses " row[3] " of " to ", which is not below it"
        failed = 1
      }
      if (directory_of(to) == directory_of(row[1]))
        print row[1], to >pairs
    }
    if (!uses)
      print "calls: skipped: uses of names: there is no object to read"
    exit failed
  }' || failed=1
if ! command -v tsort >/dev/null; then
  skipped "circles: tsort is not installed"
elif tsort $work/pairs 2>&1 >/dev/null | sed 's/^/calls: circle: /' | grep .; then
  failed=1
fi
exit $failed
