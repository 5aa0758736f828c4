# SPDX-License-Identifier: 0BSD OR MIT
# The tool.

bin_PROGRAMS += cpucycles-info/cpucycles-info
cpucycles_info_cpucycles_info_SOURCES = \
	cpucycles-info/examine.c \
	cpucycles-info/cpucycles-info.c \
	cpucycles-info/fill.c \
	cpucycles-info/fill.h \
	cpucycles-info/grain.c \
	cpucycles-info/grain.h \
	cpucycles-info/json.c \
	cpucycles-info/library.c \
	cpucycles-info/machine.c \
	cpucycles-info/measure.c \
	cpucycles-info/observe.c \
	cpucycles-info/plot.c \
	cpucycles-info/print.h \
	cpucycles-info/report.c \
	cpucycles-info/report.h \
	cpucycles-info/system.c \
	cpucycles-info/copy-line.h \
	cpucycles-info/text.c \
	cpucycles-info/warn.c
cpucycles_info_cpucycles_info_LDADD = libcpucycles.la cpucycles-info/libsys.la
# Hidden functions of the library that the tool uses too. A convenience library, as libtool and
# programs need different objects.
noinst_LTLIBRARIES += cpucycles-info/libsys.la
cpucycles_info_libsys_la_SOURCES = sys/hypervisor.c sys/kernel-file.c
dist_man_MANS += cpucycles-info/cpucycles-info.1
dist_pkgdata_DATA += cpucycles-info/cpucycles-info.schema.json
