# SPDX-License-Identifier: Apache-2.0
# test/test_<name>.cpp, each its own executable, registered with CTest case by case.
find_package(GTest REQUIRED)
include(GoogleTest)
add_custom_target(engine_tests)
include(cmake/constant_time.cmake)

# What nearly every test includes is compiled once, for the first of them; the others read the result.
set(pqcmav_test_headers
    <gtest/gtest.h> <algorithm> <array> <chrono> <filesystem> <fstream> <functional> <map> <optional> <random> <set>
    <span> <string> <thread> <variant> <vector>)

# pqcmav_test(<name> [TIMEOUT seconds] [LIBRARIES ...] [THREADS])
# THREADS: its cases are listed a second time, with two data threads in every gcs.
function(pqcmav_test name)
  cmake_parse_arguments(ARG "THREADS" "TIMEOUT" "LIBRARIES" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(PQCMAV_SANITIZE OR CMAKE_CROSSCOMPILING)
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 10")  # sanitized or emulated code is up to twenty times slower
  endif()
  add_executable(test_${name} test/test_${name}.cpp)
  set_target_properties(test_${name} PROPERTIES EXCLUDE_FROM_ALL ${PQCMAV_ON_DEMAND})
  add_dependencies(engine_tests test_${name})
  target_link_libraries(test_${name} PRIVATE pqcmav_engine nlohmann_json::nlohmann_json GTest::gtest_main
    ${ARG_LIBRARIES})
  # The engine they test is optimised in full; for their own code that takes longer than it saves.
  target_compile_options(test_${name} PRIVATE -Og)
  if(TARGET test_${pqcmav_first_test})
    target_precompile_headers(test_${name} REUSE_FROM test_${pqcmav_first_test})
  else()
    set(pqcmav_first_test ${name} PARENT_SCOPE)
    target_precompile_headers(test_${name} PRIVATE ${pqcmav_test_headers})
  endif()
  gtest_discover_tests(test_${name} TEST_PREFIX ${name}: PROPERTIES TIMEOUT ${ARG_TIMEOUT} DISCOVERY_TIMEOUT 60)
  if(ARG_THREADS)
    gtest_discover_tests(test_${name} TEST_PREFIX ${name}-two-threads: TEST_LIST test_${name}_THREADS
      PROPERTIES TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT PQCMAV_TEST_DATA_THREADS=2 DISCOVERY_TIMEOUT 60)
  endif()
endfunction()

# Those with several data threads at the gcs, and those that may take longer than most.
set(pqcmav_threads
  engine_admission engine_attack engine_bundles engine_compact engine_data engine_drones engine_endpoints
  engine_liveness engine_rate engine_ratchet engine_rekey engine_return engine_shaping engine_snapshot engine_start engine_stations
  engine_strangers nonce_once rekey_faults rekey_requests rekey_yield)
set(pqcmav_long
  address_simulation engine_addresses engine_console engine_door engine_kernel_drops engine_serial engine_threads host
  key_pool sequences transport_handshake transport_link)
set(pqcmav_longest rekey_faults session_model)
set(pqcmav_of_the_daemon cold_code health_file service_manager)
set(pqcmav_of_the_fleet fleet_drone fleet_parts)

file(GLOB pqcmav_tests CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}/test" "test/test_*.cpp")
list(FILTER pqcmav_tests EXCLUDE REGEX "^test_(core_suites|vectors.*)\\.cpp$")
if(NOT PQCMAV_LIBOQS)
  list(FILTER pqcmav_tests EXCLUDE REGEX "^test_(liboqs_provider|nist_answers_liboqs)\\.cpp$")
endif()
foreach(file ${pqcmav_tests})
  string(REGEX REPLACE "^test_(.*)\\.cpp$" "\\1" name ${file})
  set(options)
  if(name IN_LIST pqcmav_longest)
    list(APPEND options TIMEOUT 600)
  elseif(name IN_LIST pqcmav_threads OR name IN_LIST pqcmav_long)
    list(APPEND options TIMEOUT 300)
  endif()
  if(name IN_LIST pqcmav_threads)
    list(APPEND options THREADS)
  endif()
  if(name IN_LIST pqcmav_of_the_daemon)
    list(APPEND options LIBRARIES pqcmav_daemon)
  elseif(name IN_LIST pqcmav_of_the_fleet)
    list(APPEND options LIBRARIES pqcmav_fleet)
  elseif(name STREQUAL config_yaml)
    list(APPEND options LIBRARIES pqcmav_yaml)
  endif()
  pqcmav_test(${name} ${options})
endforeach()

foreach(name known_answers nist_answers nist_answers_liboqs)
  if(NOT TARGET test_${name})
    continue()
  endif()
  target_compile_definitions(test_${name} PRIVATE
    PQCMAV_KNOWN_ANSWERS="${CMAKE_CURRENT_SOURCE_DIR}/test/known_answers")
endforeach()

if(CMAKE_CROSSCOMPILING)
  pqcmav_test(core_suites TIMEOUT 300)  # elsewhere test_handshake does more
endif()

# The vectors belong to the repository, not to the package: a source tree of the package alone does without this test.
get_filename_component(pqcmav_vectors "${CMAKE_CURRENT_SOURCE_DIR}/../pqc_mav_wirespec/test/vectors" ABSOLUTE)
if(EXISTS "${pqcmav_vectors}")
  foreach(name vectors vectors_line vectors_mavlink vectors_ratchet vectors_transport)
    pqcmav_test(${name})
    target_compile_definitions(test_${name} PRIVATE PQCMAV_VECTORS="${pqcmav_vectors}")
  endforeach()
endif()
