# SPDX-License-Identifier: 0BSD OR MIT
#
# SYNOPSIS
#
#   m4_ignore(m4_include([backends/backends.def]))
#   CPUCYCLES_BACKENDS
#   CPUCYCLES_BACKENDS_SUMMARY
#
# DESCRIPTION
#
#   CPUCYCLES_BACKENDS decides, for each row of backends.def, whether the counter is built.
#   (configure.ac itself includes the list, so that configure depends on it.) A counter is built if
#   its probe, the whole program probes/NAME.c, compiles and links with the user's CC, CPPFLAGS,
#   CFLAGS, LDFLAGS and LIBS. The macro never runs the program and never looks at the name of the
#   host, so native and cross builds decide alike.
#
#   Per row, with its identifier ID:
#
#     cpucycles_cv_backend_ID      cache variable, yes or no; a packager may preset it
#     cpucycles_cv_reason_backend_ID  if no: the compiler's or linker's first error
#     HAVE_BACKEND_ID              defined to 0 or 1, always, unless CPPFLAGS has defined it
#
#   CPUCYCLES_BACKEND_OBJECTS      substituted: the libtool objects of the counters that are built
#
#   --with-backends=LIST             builds the counters in LIST, plus default-gettimeofday and
#                                    default-zero; an error if a probe fails
#   --with-excluded-backends=LIST    builds all but the counters in LIST
#
#   Commas or spaces separate the names in a LIST. An unknown name is an error.
#   default-gettimeofday and default-zero are always built, because one of them can always be
#   selected.
#
#   CPUCYCLES_BACKENDS_SUMMARY prints the counters that are built, those of this target that are
#   left out, with the reasons, and the number of counters of other targets.

# A row of the list: collects the identifier and its name without the quotes.
m4_define([CPUCYCLES_BACKEND],
  [m4_append([_CPUCYCLES_IDS], [$1], [,])dnl
m4_define([_CPUCYCLES_NAME_$1], m4_translit([$2], ["]))])

# CPUCYCLES_PROBE(MESSAGE, ID, FILE)
# Checks whether the program FILE links. Sets the cache variable cpucycles_cv_ID and, if FILE does
# not link, cpucycles_cv_reason_ID.
AC_DEFUN([CPUCYCLES_PROBE],
[AC_CACHE_CHECK([$1], [cpucycles_cv_$2],
  [AS_ECHO(["probe: $2"]) >&AS_MESSAGE_LOG_FD
  AC_LINK_IFELSE([AC_LANG_SOURCE([[@%:@include "$srcdir/$3"]])],
    [cpucycles_cv_$2=yes],
    [cpucycles_cv_$2=no
    # The first error in the log: text after the compiler's "error:", or the linker's "undefined
    # reference".
    cpucycles_cv_reason_$2='its probe does not link (config.log)'
    cpucycles_reason=`sed -n -e '1,/^probe: $2$/d' \
      -e '/error: */{s/.*error: *//;s/^@%:@error *//;s/"//g;p;q;}' \
      -e '/undefined /{s/.*\(undefined .*\)/\1/;p;q;}' config.log`
    test -z "$cpucycles_reason" || cpucycles_cv_reason_$2=$cpucycles_reason])])])

# _CPUCYCLES_DECIDE(ID, NAME)
# Decides from the lists and the probe whether the counter is built. cpucycles_only is "any" without
# --with-backends.
m4_define([_CPUCYCLES_DECIDE],
[AH_VERBATIM([HAVE_BACKEND_$1],
[/* Define to 1 if counter $2 is built, else to 0. */
#ifndef HAVE_BACKEND_$1
#undef HAVE_BACKEND_$1
#endif])
cpucycles_built=no
cpucycles_reason=
AS_CASE([" $cpucycles_only $cpucycles_always "], [*" $2 "* | " any "*], [],
  [cpucycles_reason='not in --with-backends'])
AS_CASE([" $cpucycles_excluded "], [*" $2 "*],
  [cpucycles_reason='left out by --with-excluded-backends'])
AS_IF([test -z "$cpucycles_reason"],
  [CPUCYCLES_PROBE([for counter $2], [backend_$1], [probes/$2.c])
  cpucycles_built=$cpucycles_cv_backend_$1
  cpucycles_reason="cpucycles_cv_backend_$1 is preset to $cpucycles_built"
  cpucycles_reason=${cpucycles_cv_reason_backend_$1-$cpucycles_reason}
  AS_IF([test "$cpucycles_built" != yes],
    [AS_CASE([" $cpucycles_only $cpucycles_always "], [*" $2 "*],
      [AC_MSG_ERROR([the counter $2 cannot be built here: $cpucycles_reason])])])])
AS_IF([test "$cpucycles_built" = yes],
  [AC_DEFINE([HAVE_BACKEND_$1], [1])
  CPUCYCLES_BACKEND_OBJECTS="$CPUCYCLES_BACKEND_OBJECTS backends/$2.lo"
  cpucycles_report_built="$cpucycles_report_built
    $2"],
  [AC_DEFINE([HAVE_BACKEND_$1], [0])
  AS_CASE([$cpucycles_reason], ["the target is not "*],
    [AS_VAR_ARITH([cpucycles_foreign], [$cpucycles_foreign + 1])],
    [cpucycles_report_left_out="$cpucycles_report_left_out
    $2: $cpucycles_reason"])])
])

# _CPUCYCLES_LIST(VARIABLE, OPTION)
# Splits the list in VARIABLE into names. An unknown name is an error.
m4_define([_CPUCYCLES_LIST],
[$1=`AS_ECHO(["$$1"]) | tr ',\t\n' '   '`
set -f
for cpucycles_name in $$1; do
  AS_CASE([" $cpucycles_all "], [*" $cpucycles_name "*], [],
    [AC_MSG_ERROR([$2: there is no counter $cpucycles_name; the counters are:$cpucycles_all])])
done
set +f])

AC_DEFUN([CPUCYCLES_BACKENDS],
[AC_ARG_WITH([backends],
  [AS_HELP_STRING([--with-backends=LIST],
    [build LIST, plus default-gettimeofday and default-zero])],
  [], [with_backends=yes])
AC_ARG_WITH([excluded-backends],
  [AS_HELP_STRING([--with-excluded-backends=LIST], [build all counters but these])],
  [], [with_excluded_backends=])
cpucycles_all=m4_foreach([cpucycles_id], m4_defn([_CPUCYCLES_IDS]),
  [" m4_indir([_CPUCYCLES_NAME_]cpucycles_id)"])
AS_CASE([$with_backends],
  [yes], [cpucycles_only=any],
  [no], [AC_MSG_ERROR([--without-backends is not supported: use --with-excluded-backends=LIST; the counters are:$cpucycles_all])],
  [cpucycles_only=$with_backends
  _CPUCYCLES_LIST([cpucycles_only], [--with-backends])
  AS_IF([test -z "`AS_ECHO(["$cpucycles_only"]) | tr -d ' '`"],
    [AC_MSG_ERROR([--with-backends: the list is empty; the counters are:$cpucycles_all])])])
AS_CASE([$with_excluded_backends],
  [yes | no], [AC_MSG_ERROR([--with-excluded-backends needs a list; the counters are:$cpucycles_all])],
  [cpucycles_excluded=$with_excluded_backends
  _CPUCYCLES_LIST([cpucycles_excluded], [--with-excluded-backends])])
cpucycles_always='default-gettimeofday default-zero'
for cpucycles_name in $cpucycles_excluded; do
  AS_CASE([" $cpucycles_only "], [*" $cpucycles_name "*],
    [AC_MSG_ERROR([$cpucycles_name is in both --with-backends and --with-excluded-backends])])
  AS_CASE([" $cpucycles_always "], [*" $cpucycles_name "*],
    [AC_MSG_WARN([$cpucycles_name is always built and cannot be excluded])
    cpucycles_excluded=`AS_ECHO([" $cpucycles_excluded "]) | sed "s/ $cpucycles_name / /g"`])
done
CPUCYCLES_BACKEND_OBJECTS=
cpucycles_report_built=
cpucycles_report_left_out=
cpucycles_foreign=0
m4_foreach([cpucycles_id], m4_defn([_CPUCYCLES_IDS]),
  [_CPUCYCLES_DECIDE(cpucycles_id, m4_indir([_CPUCYCLES_NAME_]cpucycles_id))])
AC_SUBST([CPUCYCLES_BACKEND_OBJECTS])
])

AC_DEFUN([CPUCYCLES_BACKENDS_SUMMARY],
[AS_ECHO(["
libcpucycles $PACKAGE_VERSION for $host

  counters built:$cpucycles_report_built
  counters left out:${cpucycles_report_left_out:-
    none for this target}
    $cpucycles_foreign counters of other CPUs and systems
"])])
