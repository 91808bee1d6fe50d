# What Penstock stands on: the standard library, threads, protobuf, Highway and oneDNN;
# LevelDB where it is there.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(Protobuf)
find_package(hwy CONFIG)
include(PenstockDnnl)
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

# An optional part: checkpoints.
include(PenstockImages)
foreach(codec ${PENSTOCK_IMAGE_CODECS})
  if(TARGET ${codec}::${codec})
    message(STATUS "${codec} images: on")
  else()
    string(TOLOWER ${codec} package)
    message(STATUS "${codec} images: off, the library was not found (Debian and Ubuntu: "
                   "lib${package}-dev)")
  endif()
endforeach()
include(PenstockLevelDb)
if(TARGET Penstock::leveldb)
  set(PENSTOCK_LEVELDB_LIBS Penstock::leveldb)
  message(STATUS "Checkpoints: on, LevelDB ${PENSTOCK_LEVELDB_LIBRARY}")
else()
  message(STATUS "Checkpoints: off, LevelDB or snappy was not found (Debian and Ubuntu: "
                 "libleveldb-dev libsnappy-dev)")
endif()

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
