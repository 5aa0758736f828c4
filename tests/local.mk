# SPDX-License-Identifier: 0BSD OR MIT
# Tests. A suite is a file check_NAME.c, and its line below; a script is NAME.sh. LOG_COMPILER runs the
# suites of a cross build; scripts look at files, and run as they are.

TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = $(SHELL)
# Descriptor 9 is where a suite says its totals, and what it skips, past the log.
AM_TESTS_FD_REDIRECT = 9>&2

EXTRA_DIST += tests/suite.h

if HAVE_CHECK
CPUCYCLES_SUITES =
CPUCYCLES_SUITES += tests/check_first_call
CPUCYCLES_SUITES += tests/check_frequency
CPUCYCLES_SUITES += tests/check_perfevent
CPUCYCLES_SUITES += tests/check_scale
CPUCYCLES_SUITES += tests/check_select
CPUCYCLES_SUITES += tests/check_trial
# EOL
check_PROGRAMS += $(CPUCYCLES_SUITES)
TESTS += $(CPUCYCLES_SUITES)
endif

# Libraries and flags of all suites.
LDADD = lib/libcpucycles-core.la $(CHECK_LIBS) $(PTHREAD_LIBS)
AM_CPPFLAGS += $(CHECK_CFLAGS)
