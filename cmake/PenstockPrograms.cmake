# Programs over the whole library: benchmarks, examples, whole-system tests, conformance runners.

set(root ${PROJECT_SOURCE_DIR})

file(GLOB sources CONFIGURE_DEPENDS ${root}/bench/*.cc)
if(sources)
  add_executable(penstock_bench ${sources})
  penstock_link_all_rooms(penstock_bench)
endif()

# examples/x.cc is the target x_example and the program bin/x. What they share is in
# examples/shared.
file(GLOB sources CONFIGURE_DEPENDS ${root}/examples/shared/*.cc)
add_library(examples_shared STATIC ${sources})
target_include_directories(examples_shared PUBLIC ${root})
target_link_libraries(examples_shared PUBLIC penstock)
file(GLOB examples CONFIGURE_DEPENDS ${root}/examples/*.cc)
foreach(source ${examples})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name}_example ${source})
  set_target_properties(${name}_example PROPERTIES OUTPUT_NAME ${name})
  target_link_libraries(${name}_example PRIVATE examples_shared)
endforeach()

# A shortened run of each, named example_x: enough steps to see that they learn.
function(penstock_example_test name)
  if(NOT PENSTOCK_SANITIZE)
    add_test(NAME example_${name} COMMAND ${name}_example ${ARGN} WORKING_DIRECTORY ${root})
    set_tests_properties(example_${name} PROPERTIES LABELS examples TIMEOUT 300)
  endif()
endfunction()
penstock_example_test(hello)
penstock_example_test(digits_mlp --epochs 15)
penstock_example_test(digits_cnn --epochs 2 --steps 60)
penstock_example_test(lstm_lm --steps 20)
penstock_example_test(word_vectors --steps 50)
penstock_example_test(transformer_lm --steps 10)
if(EXISTS ${root}/../shared/datasets/fashion-mnist)
  penstock_example_test(fashion_cnn --epochs 1 --steps 3)
endif()
foreach(name alexnet overfeat oxfordnet googlenet inception_v3 resnet50)
  penstock_example_test(${name} --steps 2 --batch 1)
endforeach()

file(GLOB sources CONFIGURE_DEPENDS ${root}/tests/conformance/*.cc)
add_library(conformance STATIC ${sources})
penstock_link_all_rooms(conformance)
file(GLOB sources CONFIGURE_DEPENDS ${root}/tests/*_test.cc)
if(sources)
  add_executable(system_test ${sources})
  target_link_libraries(system_test PRIVATE conformance)
  penstock_link_all_rooms(system_test)
  penstock_gtest(system_test system)
endif()

# A test in C is a program of its own, which fails by its exit status.
file(GLOB sources CONFIGURE_DEPENDS ${root}/tests/*_test.c)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${name} PRIVATE penstock)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${root})
  set_tests_properties(${name} PROPERTIES LABELS system TIMEOUT 300)
endforeach()

foreach(name golden_check model_check curve_check)
  add_executable(${name} ${root}/tests/${name}.cc)
  target_link_libraries(${name} PRIVATE conformance)
  penstock_link_all_rooms(${name})
endforeach()
add_executable(op_list ${root}/tests/op_list.cc)
penstock_link_all_rooms(op_list)

# The tests of the rooms that stand on no op: what sanitizers can build within minutes.
add_custom_target(base_tests)
foreach(name core io proto device transport)
  if(TARGET ${name}_test)
    add_dependencies(base_tests ${name}_test)
  endif()
endforeach()
# The short runs of the sanitizers: tests that start threads, and tests of what owns memory.
add_custom_target(concurrency_tests)
foreach(name core transport execute session client ops_queue ops_state ops_files ops_optim)
  add_dependencies(concurrency_tests ${name}_test)
endforeach()
add_custom_target(memory_tests)
foreach(name core graph device transport execute compile session client ops ops_queue ops_state
             ops_collections ops_functions ops_image ops_text ops_parse ops_files)
  if(TARGET ${name}_test)
    add_dependencies(memory_tests ${name}_test)
  endif()
endforeach()

find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND AND EXISTS ${root}/tools/check_layers.py)
  add_test(NAME layers COMMAND ${Python3_EXECUTABLE} ${root}/tools/check_layers.py)
  set_tests_properties(layers PROPERTIES LABELS fast)
endif()

# Reads our event files with TensorBoard itself, once tests/interop/tensorboard has fetched it.
if(EXISTS ${PROJECT_BINARY_DIR}/interop/tensorboard/bin/python)
  add_test(NAME tensorboard COMMAND ${root}/tests/interop/tensorboard ${PROJECT_BINARY_DIR})
  set_tests_properties(tensorboard PROPERTIES LABELS interop TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()

if(EXISTS ${root}/examples/hello.cc AND NOT PENSTOCK_SANITIZE)
  add_test(NAME install_consumer
    COMMAND ${root}/tests/install/run.sh ${PROJECT_BINARY_DIR} ${CMAKE_CXX_COMPILER}
            ${CMAKE_GENERATOR})
  set_tests_properties(install_consumer PROPERTIES LABELS install TIMEOUT 300)
endif()
