# SPDX-License-Identifier: Apache-2.0
# A fleet of drones in one process, for the laboratory: what chaos/storms.py in the repository runs. It is not installed.
add_library(pqcmav_fleet STATIC micro_benchmarks/fleet/fleet_drone.cpp
  micro_benchmarks/fleet/fleet_drone_handshakes.cpp micro_benchmarks/fleet/mavlink_messages.cpp)
set_target_properties(pqcmav_fleet PROPERTIES EXCLUDE_FROM_ALL ON)
target_include_directories(pqcmav_fleet PUBLIC micro_benchmarks/fleet)
target_link_libraries(pqcmav_fleet PUBLIC pqcmav_engine)
