#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests the direction of includes: a folder includes its own files and those of the folders in the
# table below. All may include config.h, except the installed headers and the probes. The suites
# and their programs test every part and may include any.

set -eu
export LC_ALL=C
: "${srcdir:=.}"

# Rows of "FOLDER: folders that it may include". A file's own row overrides its folder's row: these
# three programs of the benchmark measure internal parts of the library.
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
bench/perf-read.c: sys backends
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
    function folder_of(path) {
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
      own = folder_of(file)
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
        target = folder_of(name)
        if (!quoted)
          wrong("<" name "> finds a file of this tree: use quotes, or rename the file")
      } else if (quoted && exists(srcdir "/" beside))
        target = folder_of(beside)
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
