#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Reports retired words in comments, manuals and messages: words that HACKING, "Words", replaces,
# idioms for which there is a plain word, and British spellings.

set -eu
export LC_ALL=C
: "${srcdir:=.}"
idioms='anew|for good|as a rule|(stand|stands|standing) still|nobody|goes on|meanwhile|(tell|told) from|(un|over)?stated|statements?'
spellings='licences?|[a-z_]*(initial|optim|recogn)is(e|ed|es|er|ing|ation)[a-z_]*'
verb='(^|[ (])states( [a-z]|$)' # the noun: a state's plural is followed by something else, as in C

cd "$srcdir"
found=$({
  ls README HACKING NEWS SECURITY COPYING Makefile.am configure.ac bootstrap
  find backends bench contrib cpucycles-info doc include lib perfex probes sys tests -type f \
    \( -name '*.[ch137]' -o -name '*.cc' -o -name '*.def' -o -name '*.in' -o -name '*.json' \
    -o -name '*.md' -o -name '*.mk' -o -name '*.py' -o -name '*.sh' -o -name README \) \
    ! -name words.sh
} | xargs grep -inE "(^|[^a-z_])($idioms|$spellings)([^a-z_]|\$)|$verb" /dev/null |
  grep -v 'maintainer=') || :
[ -z "$found" ] || { echo "words: HACKING, \"Words\", has better ones:"; echo "$found"; exit 1; }
