# include/penstock/, libpenstock, find_package(Penstock) and penstock.pc. The installed tree may be
# moved: nothing in it names the prefix.

include(CMakePackageConfigHelpers)

foreach(room client train serve ops graph core)
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/penstock/${room})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/penstock/${room}
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/penstock
            FILES_MATCHING PATTERN "*.h" PATTERN "*-inl.h" EXCLUDE PATTERN testing EXCLUDE)
  endif()
endforeach()
# What those headers name from the rooms below: op structs are public, and they are made of these.
foreach(header session/session.h device/kernel.h device/state.h kernels/elementwise.h)
  get_filename_component(room ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/penstock/${header}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/penstock/${room})
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/penstock/kernels DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/penstock
        FILES_MATCHING PATTERN "math*.h")
install(FILES ${PROJECT_SOURCE_DIR}/penstock/penstock.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/penstock OPTIONAL)

set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Penstock)
install(TARGETS penstock EXPORT PenstockTargets)
install(EXPORT PenstockTargets NAMESPACE Penstock:: DESTINATION ${cmake_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/PenstockConfig.cmake.in
  ${PROJECT_BINARY_DIR}/PenstockConfig.cmake INSTALL_DESTINATION ${cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/PenstockConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/PenstockConfig.cmake
              ${PROJECT_BINARY_DIR}/PenstockConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/PenstockDnnl.cmake
              ${PROJECT_SOURCE_DIR}/cmake/PenstockImages.cmake
              ${PROJECT_SOURCE_DIR}/cmake/PenstockLevelDb.cmake
              ${PROJECT_SOURCE_DIR}/cmake/PenstockText.cmake
        DESTINATION ${cmake_dir})

# A static library hands its dependencies on to whoever links it, also without --static.
if(NOT BUILD_SHARED_LIBS)
  set(PENSTOCK_PC_REQUIRES "protobuf libhwy")
  set(PENSTOCK_PC_LIBS "-ldnnl -pthread")
  foreach(codec ${PENSTOCK_IMAGE_CODECS})
    if(TARGET ${codec}::${codec})
      string(TOLOWER " -l${codec}" library)
      string(APPEND PENSTOCK_PC_LIBS ${library})
    endif()
  endforeach()
  if(TARGET WEBP::WEBP)
    string(APPEND PENSTOCK_PC_LIBS " -lwebpdemux")
  endif()
  if(PENSTOCK_LEVELDB_LIBS)
    string(APPEND PENSTOCK_PC_LIBS " -lleveldb -lsnappy")
  endif()
  foreach(part "re2;-lre2" "icu;-licuuc" "zlib;-lz")
    list(GET part 0 name)
    list(GET part 1 flag)
    if(name IN_LIST PENSTOCK_TEXT_PARTS)
      string(APPEND PENSTOCK_PC_LIBS " ${flag}")
    endif()
  endforeach()
  if(PENSTOCK_CUDA)
    string(APPEND PENSTOCK_PC_LIBS " -L${CUDAToolkit_LIBRARY_DIR} -lcudart")
  endif()
endif()
file(RELATIVE_PATH PENSTOCK_PC_TO_PREFIX
     ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${PROJECT_SOURCE_DIR}/cmake/penstock.pc.in ${PROJECT_BINARY_DIR}/penstock.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/penstock.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
