# Finds the codecs of images, each of which may be absent: PENSTOCK_IMAGE_LIBS are those that are
# there. Also installed, for the users of libpenstock.

find_package(JPEG QUIET)
find_package(PNG QUIET)
find_package(GIF 5 QUIET)
# There is no module for WebP.
find_path(PENSTOCK_WEBP_INCLUDE_DIR webp/demux.h)
find_library(PENSTOCK_WEBP_LIBRARY webp)
find_library(PENSTOCK_WEBP_DEMUX_LIBRARY webpdemux)
mark_as_advanced(PENSTOCK_WEBP_INCLUDE_DIR PENSTOCK_WEBP_LIBRARY PENSTOCK_WEBP_DEMUX_LIBRARY)
if(PENSTOCK_WEBP_INCLUDE_DIR AND PENSTOCK_WEBP_LIBRARY AND PENSTOCK_WEBP_DEMUX_LIBRARY
   AND NOT TARGET WEBP::WEBP)
  add_library(WEBP::WEBP UNKNOWN IMPORTED)
  set_target_properties(WEBP::WEBP PROPERTIES
    IMPORTED_LOCATION ${PENSTOCK_WEBP_DEMUX_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${PENSTOCK_WEBP_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES ${PENSTOCK_WEBP_LIBRARY})
endif()

set(PENSTOCK_IMAGE_CODECS JPEG PNG GIF WEBP)
set(PENSTOCK_IMAGE_LIBS)
foreach(codec ${PENSTOCK_IMAGE_CODECS})
  if(TARGET ${codec}::${codec})
    list(APPEND PENSTOCK_IMAGE_LIBS ${codec}::${codec})
  endif()
endforeach()
