# Finds the codecs of images, each of which may be absent: PENSTOCK_IMAGE_LIBS are those that are
# there. Also installed, for the users of libpenstock.

find_package(JPEG QUIET)
find_package(PNG QUIET)
find_package(GIF 5 QUIET)
set(PENSTOCK_IMAGE_LIBS)
foreach(codec JPEG PNG GIF)
  if(TARGET ${codec}::${codec})
    list(APPEND PENSTOCK_IMAGE_LIBS ${codec}::${codec})
  endif()
endforeach()
