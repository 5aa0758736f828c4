# SPDX-License-Identifier: 0BSD OR MIT
# The tool. Its files except cpucycles-info.c are compiled once, into a convenience library that the
# tool and the tests link.

noinst_LTLIBRARIES += cpucycles-info/libcpucycles-info.la
cpucycles_info_libcpucycles_info_la_SOURCES = \
	cpucycles-info/child.c \
	cpucycles-info/child.h \
	cpucycles-info/fill.c \
	cpucycles-info/fill.h \
	cpucycles-info/fork.c \
	cpucycles-info/grain.c \
	cpucycles-info/judge.c \
	cpucycles-info/machine.c \
	cpucycles-info/measure.c \
	cpucycles-info/plot.c \
	cpucycles-info/print.c \
	cpucycles-info/report.h \
	cpucycles-info/summary.c \
	cpucycles-info/write.c \
	cpucycles-info/write.h
cpucycles_info_libcpucycles_info_la_LIBADD = sys/libtrapped.la

bin_PROGRAMS += cpucycles-info/cpucycles-info
cpucycles_info_cpucycles_info_SOURCES = cpucycles-info/cpucycles-info.c
cpucycles_info_cpucycles_info_LDADD = cpucycles-info/libcpucycles-info.la
cpucycles_info_cpucycles_info_LDADD += sys/libcpu.la sys/libcommon.la libcpucycles.la -lm
dist_man_MANS += cpucycles-info/cpucycles-info.1
dist_pkgdata_DATA += cpucycles-info/cpucycles-info.schema.json
# bash-completion finds this directory below each prefix of PATH and XDG_DATA_DIRS. Its pkg-config
# variable names the directory of the system, which is not in the prefix.
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = cpucycles-info/completions/cpucycles-info
