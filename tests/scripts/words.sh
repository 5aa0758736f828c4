#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Reports retired words in sources, manuals and scripts: idioms for which there is a plain word,
# words that the terms of HACKING, "Words", have replaced, and British spellings. Words that are
# joined by underscores are reported like separate words.

set -eu
export LC_ALL=C
: "${srcdir:=.}"
idioms='anew|for good|as a rule|(stand|stands|standing|stood) still|nobody|(go|goes) on|meanwhile'
idioms="$idioms|(tell|told) from|amid|hence|in vain|likewise|[a-z0-9]+[)]? is no [a-z]+"
terms='(un|over)?stated|statements?|states_(the|no|a)|folders?|granularity|granularities|momentary'
terms="$terms|multiplied up|(runs?|running) backward|next best|core's( own)? (frequency|cycles)"
terms="$terms|per cent|(hz|%lld|%.0f|times|cycles|counts) a second|by a system call|rescues?"
terms="$terms|frozen|(kinds?|types?) of cores?|reference clock|nanoseconds a call"
spellings='licences?|[a-z_]*(initial|optim|recogn|serial)is(e|ed|es|er|ing|ation)[a-z_]*'
spellings="$spellings|[a-z_]*cancelled[a-z_]*|colour(s|ed)?|catalogues?|analys(e|ed|es|ing)"
verb='states( [a-z]|$)' # the verb, before a word or the end of the line; not the plural noun
joined=$(echo "$idioms|$terms" | sed 's/ /[ _]/g')

# Prints the lines with retired words in the files that standard input names.
words_in() {
  sort -u | xargs grep -inE -e "(^|[^a-z])($joined)([^a-z]|\$)" -e "(^|[ (])$verb" \
    -e "(^|[^a-z_])($spellings)([^a-z_]|\$)" /dev/null |
    grep -viE 'maintainer=|there[ _]is[ _]no[ _]|is[ _]no[ _](longer|help)' || :
}

cd "$srcdir"
[ -n "$(echo tests/scripts/words.sh | words_in)" ] ||
  { echo "words: grep finds no word in words.sh" >&2; exit 1; }
files=$(
  ls README HACKING NEWS SECURITY COPYING CMakeLists.txt meson.build Makefile.am configure.ac bootstrap m4/cpucycles_*.m4
  ls .clang-tidy
  [ ! -d .ci ] || ls .ci/run .github/workflows/ci.yml # not in the tarball
  find backends bench contrib cpucycles-info doc embed examples include lib perfex probes sys tests -type f \
    \( -name '*.[ch1357]' -o -name '*.cc' -o -name '*.def' -o -name '*.f90' -o -name '*.in' \
    -o -name '*.json' -o -name '*.md' -o -name '*.mk' -o -name '*.py' -o -name '*.sh' \
    -o -name '*.supp' -o -name README \) ! -name words.sh
  find contrib tests/cross tests/hosts tests/vm -type f ! -name '*.*' ! -name COPYING
)
found=$(echo "$files" | words_in)
[ -z "$found" ] || {
  echo "words: use a plain word, and American spelling; HACKING, \"Words\", lists the terms:"
  echo "$found"
  exit 1
}
