# Defines Penstock::dnnl. Debian's own CMake file for oneDNN names files that it does not ship, so
# the library is looked up directly. Also installed, for the users of libpenstock.

find_path(PENSTOCK_DNNL_INCLUDE_DIR dnnl.hpp)
find_library(PENSTOCK_DNNL_LIBRARY dnnl)
mark_as_advanced(PENSTOCK_DNNL_INCLUDE_DIR PENSTOCK_DNNL_LIBRARY)
if(PENSTOCK_DNNL_INCLUDE_DIR AND PENSTOCK_DNNL_LIBRARY AND NOT TARGET Penstock::dnnl)
  add_library(Penstock::dnnl UNKNOWN IMPORTED)
  set_target_properties(Penstock::dnnl PROPERTIES
    IMPORTED_LOCATION ${PENSTOCK_DNNL_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${PENSTOCK_DNNL_INCLUDE_DIR})
endif()
