#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests the direction of includes: a directory includes its own files and those of the directories
# in the table below. All may include config.h, except the installed headers and the probes. The
# suites and their programs test every part and may include any. Also tests the direction of calls:
# no file of sys/ or backends/ names a function or variable that an object of a higher layer defines.

set -eu
export LC_ALL=C
: "${srcdir:=.}" "${builddir:=.}" "${NM:=nm}"

# Rows of "DIRECTORY: directories that it may include". A file's own row overrides the row of its
# directory: these two programs of the benchmark measure internal parts of the library.
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

# check_includes - FILE...: reads the table from standard input (-), prints each include that is
# against the direction, and fails if there is one.
check_includes() {
  awk -v srcdir="$srcdir" '
    function exists(path,  line) {
      if (!(path in known)) {
        known[path] = (getline line <path) >= 0
        close(path)
      }
      return known[path]
    }
    function directory_of(path) {
      sub(/\/.*/, "", path)
      return path
    }
    function wrong(text) {
      print "includes: " file ":" FNR ": " text
      failed = 1
    }
    FILENAME == "-" {
      row = $1
      sub(/:$/, "", row)
      sub(/^[^:]*: */, "")
      allowed[row] = $0
      next
    }
    FNR == 1 {
      file = substr(FILENAME, length(srcdir) + 2)
      own = directory_of(file)
      may = file in allowed ? allowed[file] : allowed[own]
      files++
    }
    /^[ \t]*#[ \t]*include[ \t]*["<]/ {
      quoted = $0 ~ /^[^<]*"/
      name = $0
      sub(/^[^"<]*["<]/, "", name)
      sub(/[">].*/, "", name)
      beside = file
      sub(/[^\/]*$/, "", beside)
      beside = beside name
      while (sub(/[^\/]+\/\.\.\//, "", beside))
        ;
      if (name == "config.h") {
        if (own == "include" || own == "probes")
          wrong(own "/ may not include config.h")
        next
      }
      if (exists(srcdir "/include/" name) && !quoted)
        target = "include"
      else if (exists(srcdir "/" name)) {
        target = directory_of(name)
        if (!quoted)
          wrong("<" name "> finds a file of this tree: use quotes, or rename the file")
      } else if (quoted && exists(srcdir "/" beside))
        target = directory_of(beside)
      else {
        if (quoted)
          wrong("there is no " name)
        next
      }
      count++
      if (target != own && index(" " may " ", " " target " ") == 0)
        wrong(name " is against the direction: " (file in allowed ? file : own "/") \
          " may include only " (may == "" ? "its own files" : may))
    }
    END {
      if (!failed)
        print "includes: " count " in " files " files, none against the direction"
      exit failed
    }' "$@"
}

set --
for row in $(directions | sed 's/:.*//'); do
  [ -e "$srcdir/$row" ] || { echo "includes: there is no $row"; exit 1; }
  [ -d "$srcdir/$row" ] || continue
  for file in "$srcdir/$row"/*.[ch] "$srcdir/$row"/*.cc "$srcdir/$row"/*.def "$srcdir/$row"/*/*.[ch]; do
    [ ! -f "$file" ] || set -- "$@" "$file"
  done
done
directions | check_includes - "$@"

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
      sub(/^_/, "") # before each name of C on some systems
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
