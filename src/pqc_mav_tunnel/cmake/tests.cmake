# SPDX-License-Identifier: Apache-2.0
# test/test_<name>.cpp in three programs, registered with CTest case by case.
# In a unity build eight neighbours in the order of their names are one translation unit: what they name must differ.
find_package(GTest REQUIRED)
include(GoogleTest)
add_custom_target(engine_tests)
include(cmake/constant_time.cmake)

set(PQCMAV_TESTS "" CACHE STRING "Names of the only tests to build, e.g. frame;kdf; all where this is empty")

# What nearly every test includes is compiled once, for the first program; the others read the result.
set(pqcmav_test_headers
    <gtest/gtest.h> <algorithm> <array> <chrono> <filesystem> <fstream> <functional> <map> <optional> <random> <set>
    <span> <string> <thread> <variant> <vector>)

# pqcmav_test_program(<program> TIMEOUT <seconds> [THREADS] NAMES ...)
# THREADS: its cases are listed a second time, with two data threads in every gcs.
function(pqcmav_test_program program)
  cmake_parse_arguments(ARG "THREADS" "TIMEOUT" "NAMES" ${ARGN})
  if(NOT ARG_NAMES)
    return()
  endif()
  if(PQCMAV_SANITIZE OR CMAKE_CROSSCOMPILING)
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 10")  # sanitized or emulated code is up to twenty times slower
  endif()
  list(TRANSFORM ARG_NAMES REPLACE "(.+)" "test/test_\\1.cpp")
  add_executable(${program} ${ARG_NAMES})
  set_target_properties(${program} PROPERTIES EXCLUDE_FROM_ALL ${PQCMAV_ON_DEMAND})
  if(PQCMAV_TESTS)
    set_target_properties(${program} PROPERTIES UNITY_BUILD OFF)  # few, and not with those that they go together with
  endif()
  add_dependencies(engine_tests ${program})
  target_link_libraries(${program} PRIVATE pqcmav_engine pqcmav_daemon pqcmav_fleet pqcmav_yaml
    nlohmann_json::nlohmann_json GTest::gtest_main)
  target_compile_definitions(${program} PRIVATE PQCMAV_VECTORS="${pqcmav_vectors}"
    PQCMAV_KNOWN_ANSWERS="${CMAKE_CURRENT_SOURCE_DIR}/test/known_answers")
  # The engine they test is optimised in full; for their own code that takes longer than it saves.
  target_compile_options(${program} PRIVATE -Og)
  if(pqcmav_first_program)
    target_precompile_headers(${program} REUSE_FROM ${pqcmav_first_program})
  else()
    set(pqcmav_first_program ${program} PARENT_SCOPE)
    target_precompile_headers(${program} PRIVATE ${pqcmav_test_headers})
  endif()
  set(discovery PROPERTIES TIMEOUT ${ARG_TIMEOUT} DISCOVERY_TIMEOUT 60)
  gtest_discover_tests(${program} ${discovery})
  if(ARG_THREADS)
    list(APPEND discovery ENVIRONMENT PQCMAV_TEST_DATA_THREADS=2)
    gtest_discover_tests(${program} TEST_PREFIX two-threads: TEST_LIST ${program}_TWICE ${discovery})
  endif()
endfunction()

# Those with several data threads at the gcs, and those that may take longer than most.
set(pqcmav_threads
  engine_admission engine_attack engine_bundles engine_compact engine_data engine_drones engine_endpoints
  engine_liveness engine_rate engine_ratchet engine_rekey engine_return engine_shaping engine_snapshot engine_start engine_stations
  engine_strangers nonce_once rekey_faults rekey_requests rekey_yield)
set(pqcmav_long
  address_simulation engine_addresses engine_console engine_door engine_kernel_drops engine_port engine_serial engine_threads
  host key_pool sequences session_model transport_handshake transport_link)

file(GLOB pqcmav_tests CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}/test" "test/test_*.cpp")
list(TRANSFORM pqcmav_tests REPLACE "^test_(.*)\\.cpp$" "\\1")
if(NOT PQCMAV_LIBOQS)
  list(FILTER pqcmav_tests EXCLUDE REGEX "^(liboqs_provider|nist_answers_liboqs)$")
endif()
if(NOT CMAKE_CROSSCOMPILING)
  list(REMOVE_ITEM pqcmav_tests core_suites)  # test_handshake does more
endif()
# The vectors belong to the repository, not to the package: a source tree of the package alone does without these tests.
get_filename_component(pqcmav_vectors "${CMAKE_CURRENT_SOURCE_DIR}/../pqc_mav_wirespec/test/vectors" ABSOLUTE)
if(NOT EXISTS "${pqcmav_vectors}")
  list(FILTER pqcmav_tests EXCLUDE REGEX "^vectors")
endif()
if(PQCMAV_TESTS)
  string(REPLACE ";" "|" wanted "${PQCMAV_TESTS}")
  list(FILTER pqcmav_tests INCLUDE REGEX "^(${wanted})$")
endif()

foreach(name IN LISTS pqcmav_tests)
  if(name IN_LIST pqcmav_threads)
    list(APPEND twice ${name})
  elseif(name IN_LIST pqcmav_long)
    list(APPEND long ${name})
  else()
    list(APPEND short ${name})
  endif()
endforeach()
pqcmav_test_program(short_tests TIMEOUT 120 NAMES ${short})
pqcmav_test_program(long_tests TIMEOUT 600 NAMES ${long})
pqcmav_test_program(threads_tests TIMEOUT 600 THREADS NAMES ${twice})
