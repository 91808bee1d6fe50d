# A room is one folder under penstock/ and one static library penstock_<folder> that links only
# the rooms it may look at. libpenstock is made of the objects of all rooms.

# penstock_room(<folder> [DEPENDS <room>...] [LIBS <target>...] [TESTS_NEED <room>...])
#
# Compiles every source of penstock/<folder>, at any depth, but the tests (*_test.cc, and what lies
# in a folder named testing) and *_fuzz.cc. CUDA sources (*.cu, and what lies in a folder named
# cuda) are part of the room when PENSTOCK_CUDA is on; what lies in a folder named eigen when Eigen
# was found, without_eigen.cc when not. A folder of headers alone becomes an INTERFACE library; one
# that holds nothing yet is skipped.
function(penstock_room folder)
  cmake_parse_arguments(room "" "" "DEPENDS;LIBS;TESTS_NEED" ${ARGN})
  set(directory ${PROJECT_SOURCE_DIR}/penstock/${folder})
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${directory}/*.h)
  file(GLOB_RECURSE sources RELATIVE ${directory} CONFIGURE_DEPENDS
       ${directory}/*.cc ${directory}/*.cu)
  if(NOT PENSTOCK_CUDA)
    list(FILTER sources EXCLUDE REGEX "\\.cu$|(^|/)cuda/")
  endif()
  if(TARGET Eigen3::Eigen)
    list(FILTER sources EXCLUDE REGEX "(^|/)without_eigen\\.cc$")
  else()
    list(FILTER sources EXCLUDE REGEX "(^|/)eigen/")
  endif()
  set(fuzzers ${sources})
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_fuzz\\.cc$")
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.(cc|cu)$|(^|/)testing/")
  list(FILTER sources EXCLUDE REGEX "_test\\.(cc|cu)$|(^|/)testing/")
  foreach(list sources tests fuzzers)
    list(TRANSFORM ${list} PREPEND ${directory}/)
  endforeach()
  if(NOT sources AND NOT headers)
    message(STATUS "Room ${folder}: nothing there yet")
    return()
  endif()

  if(sources)
    add_library(penstock_${folder} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(penstock_${folder} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(penstock_${folder} ${scope} ${PROJECT_SOURCE_DIR})
  target_link_libraries(penstock_${folder} ${scope} ${room_LIBS})
  penstock_link_rooms(penstock_${folder} ${scope} ${room_DEPENDS})
  set_target_properties(penstock_${folder} PROPERTIES
    PENSTOCK_TEST_SOURCES "${tests}"
    PENSTOCK_FUZZ_SOURCES "${fuzzers}"
    PENSTOCK_TESTS_NEED "${room_TESTS_NEED}"
    PENSTOCK_LIBS "${room_LIBS}")
  set_property(GLOBAL APPEND PROPERTY PENSTOCK_ROOMS ${folder})
endfunction()

# Links an optional library of PenstockText.cmake to a room where it was found. The sources named,
# its adapters, then see PENSTOCK_<NAME>; the others do not, so that they compile alike everywhere.
function(penstock_use_text room name)
  if(NOT name IN_LIST PENSTOCK_TEXT_PARTS)
    return()
  endif()
  string(TOUPPER PENSTOCK_${name} definition)
  foreach(source ${ARGN})
    set_property(SOURCE penstock/${room}/${source} ${PROJECT_SOURCE_DIR}/penstock/${room}/${source}
                 APPEND PROPERTY COMPILE_DEFINITIONS ${definition})
  endforeach()
  target_link_libraries(penstock_${room} PUBLIC Penstock::${name})
  set_property(TARGET penstock_${room} APPEND PROPERTY PENSTOCK_LIBS Penstock::${name})
endfunction()

# Lets the sources of a room's folders named eigen include Eigen. Its headers are the system's: their
# warnings are not ours. It vectorises by itself: -O3 only makes it slower to compile.
function(penstock_use_eigen folder)
  if(NOT TARGET Eigen3::Eigen OR NOT TARGET penstock_${folder})
    return()
  endif()
  get_target_property(directories Eigen3::Eigen INTERFACE_INCLUDE_DIRECTORIES)
  get_target_property(sources penstock_${folder} SOURCES)
  list(FILTER sources INCLUDE REGEX "/eigen/")
  foreach(directory ${directories})
    set_property(SOURCE ${sources} APPEND PROPERTY COMPILE_OPTIONS -isystem${directory})
  endforeach()
  set_property(SOURCE ${sources} APPEND PROPERTY COMPILE_OPTIONS "$<$<CONFIG:Release,RelWithDebInfo>:-O2>")
endfunction()

# Links the rooms that exist.
function(penstock_link_rooms target scope)
  foreach(room ${ARGN})
    if(TARGET penstock_${room})
      target_link_libraries(${target} ${scope} penstock_${room})
    endif()
  endforeach()
endfunction()

# Links all rooms, for programs that look past the installed headers.
function(penstock_link_all_rooms target)
  get_property(rooms GLOBAL PROPERTY PENSTOCK_ROOMS)
  penstock_link_rooms(${target} PRIVATE ${rooms})
endfunction()

# The room of the .proto files: penstock/<folder>/x.proto is included as "penstock/<folder>/x.pb.h".
function(penstock_proto_room folder)
  file(GLOB protos CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
       ${PROJECT_SOURCE_DIR}/penstock/${folder}/*.proto)
  if(NOT protos)
    message(STATUS "Room ${folder}: nothing there yet")
    return()
  endif()
  set(generated ${PROJECT_BINARY_DIR}/generated)
  file(MAKE_DIRECTORY ${generated})
  foreach(proto ${protos})
    string(REGEX REPLACE "\\.proto$" "" stem ${generated}/${proto})
    add_custom_command(
      OUTPUT ${stem}.pb.cc ${stem}.pb.h
      COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR} --cpp_out=${generated}
              --dependency_out=${stem}.d ${proto}
      DEPENDS ${PROJECT_SOURCE_DIR}/${proto}
      DEPFILE ${stem}.d
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
      COMMENT "Generating ${proto}")
    list(APPEND sources ${stem}.pb.cc)
  endforeach()
  add_library(penstock_${folder} STATIC ${sources})
  # Generated code is not ours to warn about, and its checks for undefined behaviour double the
  # time that a sanitizer's build takes.
  target_compile_options(penstock_${folder} PRIVATE -w)
  if(PENSTOCK_SANITIZE MATCHES undefined)
    target_compile_options(penstock_${folder} PRIVATE -fno-sanitize=undefined)
  endif()
  target_include_directories(penstock_${folder} SYSTEM PUBLIC ${generated})
  target_link_libraries(penstock_${folder} PUBLIC protobuf::libprotobuf)
  file(GLOB tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/penstock/${folder}/*_test.cc)
  set_target_properties(penstock_${folder} PROPERTIES PENSTOCK_LIBS protobuf::libprotobuf
                        PENSTOCK_TEST_SOURCES "${tests}")
  set_property(GLOBAL APPEND PROPERTY PENSTOCK_ROOMS ${folder})
endfunction()

# Compiles what every source of a room includes once.
function(penstock_precompile room)
  if(TARGET penstock_${room})
    target_precompile_headers(penstock_${room} PRIVATE ${ARGN})
  endif()
endfunction()

# Optimises rooms of loops over numbers. The flags let the compiler vectorise without giving up
# NaN, infinity or the order of additions.
function(penstock_vectorise)
  if(PENSTOCK_SANITIZE)
    return()
  endif()
  set(flags -O3 -fno-math-errno -fno-trapping-math -ffp-contract=fast)
  foreach(room ${ARGN})
    if(TARGET penstock_${room})
      get_target_property(type penstock_${room} TYPE)
      if(type STREQUAL STATIC_LIBRARY)
        target_compile_options(penstock_${room} PRIVATE
          "$<$<AND:$<CONFIG:Release,RelWithDebInfo>,$<COMPILE_LANGUAGE:CXX>>:${flags}>")
      endif()
    endif()
  endforeach()
endfunction()

# The one library that users link: the objects of all rooms.
function(penstock_library)
  get_property(rooms GLOBAL PROPERTY PENSTOCK_ROOMS)
  foreach(room ${rooms})
    get_target_property(type penstock_${room} TYPE)
    if(type STREQUAL STATIC_LIBRARY)
      list(APPEND objects $<TARGET_OBJECTS:penstock_${room}>)
    endif()
    get_target_property(room_libs penstock_${room} PENSTOCK_LIBS)
    list(APPEND libs ${room_libs})
  endforeach()
  add_library(penstock ${objects})
  add_library(Penstock::penstock ALIAS penstock)
  set_target_properties(penstock PROPERTIES
    LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  target_include_directories(penstock INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(penstock INTERFACE cxx_std_20)
  target_link_libraries(penstock PRIVATE ${libs})
endfunction()

# One test binary <room>_test a room, and one <room>_<folder>_test for each folder in it, run from
# the repository's root. What lies in the room's own folder testing/ is linked to all of them. The
# target fast_tests builds them all.
function(penstock_room_tests)
  include(GoogleTest)
  add_custom_target(fast_tests)
  get_property(rooms GLOBAL PROPERTY PENSTOCK_ROOMS)
  foreach(room ${rooms})
    get_target_property(tests penstock_${room} PENSTOCK_TEST_SOURCES)
    get_target_property(fuzzers penstock_${room} PENSTOCK_FUZZ_SOURCES)
    get_target_property(rooms_needed penstock_${room} PENSTOCK_TESTS_NEED)
    if(tests)
      penstock_test_groups(${room} "${rooms_needed}" ${tests})
    endif()
    if(fuzzers)
      penstock_fuzzers("${room};${rooms_needed}" ${fuzzers})
    endif()
  endforeach()
endfunction()

function(penstock_test_groups room rooms_needed)
  set(directory ${PROJECT_SOURCE_DIR}/penstock/${room})
  foreach(source ${ARGN})
    file(RELATIVE_PATH path ${directory} ${source})
    set(group own)
    if(path MATCHES "^testing/" AND NOT path MATCHES "_test\\.cc$")
      list(APPEND helpers ${source})
      continue()
    elseif(NOT path MATCHES "^testing/" AND path MATCHES "^([a-z_]+)/")
      set(group ${CMAKE_MATCH_1})
    endif()
    list(APPEND groups ${group})
    list(APPEND sources_${group} ${source})
  endforeach()
  if(helpers)
    add_library(${room}_testing STATIC ${helpers})
    penstock_link_rooms(${room}_testing PUBLIC ${room} ${rooms_needed})
    target_link_libraries(${room}_testing PUBLIC GTest::gtest)
  endif()
  list(REMOVE_DUPLICATES groups)
  foreach(group ${groups})
    set(name ${room}_${group}_test)
    if(group STREQUAL own)
      set(name ${room}_test)
    endif()
    add_executable(${name} ${sources_${group}})
    if(helpers)
      target_link_libraries(${name} PRIVATE ${room}_testing)
    endif()
    penstock_link_rooms(${name} PRIVATE ${room} ${rooms_needed})
    penstock_gtest(${name} fast)
    add_dependencies(fast_tests ${name})
  endforeach()
endfunction()

# Registers each case of a GoogleTest program with CTest, under a label. All such programs share one
# precompiled header: what nearly every test includes takes a third of its time to compile.
function(penstock_gtest target label)
  target_link_libraries(${target} PRIVATE GTest::gtest_main)
  if(NOT TARGET test_headers)
    # A program, since it must be compiled as the tests are.
    add_executable(test_headers EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/test_headers.cc)
    target_include_directories(test_headers PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(test_headers PRIVATE GTest::gtest Threads::Threads)
    target_compile_options(test_headers PRIVATE $<$<CONFIG:Release>:-O1>)
    target_precompile_headers(test_headers PRIVATE <gtest/gtest.h> <functional> <map> <memory>
      <string> <thread> <vector> "${PROJECT_SOURCE_DIR}/penstock/ops/op_kernel.h")
  endif()
  target_precompile_headers(${target} REUSE_FROM test_headers)
  # The library under test is optimised; the tests themselves need not be.
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTIES LABELS ${label} TIMEOUT 300)
endfunction()

# One program a file, named like the file: libFuzzer's with clang, else tests/fuzz_driver.cc around
# the target. The target fuzzers builds them all.
function(penstock_fuzzers rooms)
  if(NOT TARGET fuzzers)
    add_custom_target(fuzzers)
  endif()
  foreach(source ${ARGN})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} EXCLUDE_FROM_ALL ${source})
    penstock_link_rooms(${name} PRIVATE ${rooms})
    if(PENSTOCK_FUZZ)
      target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    else()
      target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz_driver.cc)
    endif()
    add_dependencies(fuzzers ${name})
  endforeach()
endfunction()
