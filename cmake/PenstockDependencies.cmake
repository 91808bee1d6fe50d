# What Penstock stands on: the standard library, threads, protobuf, Highway and oneDNN; and what it
# can do more of where other libraries are found.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(Protobuf)
find_package(hwy CONFIG)
include(PenstockDnnl)
find_package(Eigen3 3.3 NO_MODULE QUIET)
if(PENSTOCK_TESTS)
  find_package(GTest)
endif()

foreach(target protobuf::libprotobuf protobuf::protoc hwy::hwy Penstock::dnnl)
  if(NOT TARGET ${target})
    message(FATAL_ERROR "${target} was not found; run tools/install_dependencies")
  endif()
endforeach()
if(PENSTOCK_TESTS AND NOT TARGET GTest::gtest_main)
  message(FATAL_ERROR "GoogleTest was not found; run tools/install_dependencies "
                      "or configure with -DPENSTOCK_TESTS=OFF")
endif()

# Optional parts. What needs one that is missing answers Unimplemented and names the package.
include(PenstockImages)
include(PenstockLevelDb)
include(PenstockText)
foreach(part
    "JPEG::JPEG;JPEG images;libjpeg-dev"
    "PNG::PNG;PNG images;libpng-dev"
    "GIF::GIF;GIF images;libgif-dev"
    "WEBP::WEBP;WebP images;libwebp-dev"
    "Penstock::leveldb;Checkpoints;libleveldb-dev libsnappy-dev"
    "Eigen3::Eigen;Matrix decompositions;libeigen3-dev"
    "Penstock::re2;Regular expressions;libre2-dev"
    "Penstock::icu;Unicode tables;libicu-dev"
    "Penstock::zlib;Compressed files;zlib1g-dev")
  list(GET part 0 target)
  list(GET part 1 what)
  list(GET part 2 packages)
  if(TARGET ${target})
    message(STATUS "${what}: on, ${target}")
    list(APPEND PENSTOCK_OPTIONAL_TARGETS ${target})
  else()
    message(STATUS "${what}: off, ${target} was not found (Debian and Ubuntu: ${packages})")
  endif()
endforeach()
list(REMOVE_ITEM PENSTOCK_OPTIONAL_TARGETS Eigen3::Eigen)  # headers, of no use to our users
if(TARGET Penstock::leveldb)
  set(PENSTOCK_LEVELDB_LIBS Penstock::leveldb)
endif()
foreach(name re2 icu zlib)
  if(TARGET Penstock::${name})
    list(APPEND PENSTOCK_TEXT_PARTS ${name})
  endif()
endforeach()

if(PENSTOCK_CUDA)
  include(CheckLanguage)
  check_language(CUDA)
  if(NOT CMAKE_CUDA_COMPILER)
    message(FATAL_ERROR "CUDA: PENSTOCK_CUDA is ON, but no CUDA compiler was found; "
                        "set CUDACXX to the path of nvcc")
  endif()
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80 90)
  endif()
  enable_language(CUDA)
  # CMake 3.25 does not know how to ask nvcc for C++20.
  if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  endif()
  find_package(CUDAToolkit REQUIRED)
  set(PENSTOCK_CUDA_LIBS CUDA::cudart)
  message(STATUS "CUDA: on, ${CMAKE_CUDA_COMPILER} ${CMAKE_CUDA_COMPILER_VERSION}")
else()
  message(STATUS "CUDA: off (configure with -DPENSTOCK_CUDA=ON or the preset cuda)")
endif()
