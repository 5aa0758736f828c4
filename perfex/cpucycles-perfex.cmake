# SPDX-License-Identifier: 0BSD OR MIT
# The targets cpucycles::perfex and cpucycles::perfex_static. cpucycles-config.cmake includes this
# file if it is installed.

cpucycles_add_target(perfex perfex .so .a)
cpucycles_add_target(perfex_static perfex .a)
if(TARGET cpucycles::perfex)
  set_property(TARGET cpucycles::perfex APPEND PROPERTY
    INTERFACE_LINK_LIBRARIES cpucycles::cpucycles)
endif()
if(TARGET cpucycles::perfex_static AND TARGET cpucycles::cpucycles_static)
  set_property(TARGET cpucycles::perfex_static APPEND PROPERTY
    INTERFACE_LINK_LIBRARIES cpucycles::cpucycles_static)
endif()
