# SPDX-License-Identifier: Apache-2.0
# Programs that measure parts of the engine, and the load and the yardstick that bench/ in the repository runs.
add_custom_target(micro_benchmarks)
foreach(name aead_benchmark handshake_benchmark plain_forwarder udp_load)
  add_executable(${name} micro_benchmarks/${name}.cpp)
  set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ${PQCMAV_ON_DEMAND}
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/micro_benchmarks")
  add_dependencies(micro_benchmarks ${name})
  target_link_libraries(${name} PRIVATE pqcmav_engine)
endforeach()

# Its parts that need no socket are a library, which has tests.
add_executable(pqcmav-fleet micro_benchmarks/fleet/main.cpp micro_benchmarks/fleet/fleet.cpp
  micro_benchmarks/fleet/fleet_report.cpp micro_benchmarks/fleet/ground_sink.cpp)
set_target_properties(pqcmav-fleet PROPERTIES EXCLUDE_FROM_ALL ${PQCMAV_ON_DEMAND}
  RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/micro_benchmarks")
add_dependencies(micro_benchmarks pqcmav-fleet)
target_link_libraries(pqcmav-fleet PRIVATE pqcmav_fleet nlohmann_json::nlohmann_json)
