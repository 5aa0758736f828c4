#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests, in the objects of the build, the direction of calls: an object uses internal names only of
# its own layer and of the layers below that HACKING permits, and the objects of a directory do not
# use each other in a circle.

set -eu
: "${srcdir:=.}" "${builddir:=.}" "${NM:=nm}"

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

# Prints each circle of uses between the objects of a directory, and each use of a name that is not
# of a lower layer, and fails if there is one.
names | awk '
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
        print "includes: " row[1] " uses " row[3] " of " to ", which is not below it"
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
