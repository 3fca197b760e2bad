# SPDX-License-Identifier: Apache-2.0
# The engine as a static library, and the YAML reader for hosts without ROS parameters.
# Room by room, each with what is in its folder: the long-term keys on disk; packets and keys of a session, MAVLink by
# importance, MAVLink as streams, frames on a serial line, which of several paths and the handshake, all without sockets
# or clock; sockets and the packet thread; when to shake hands; every figure of an engine; the control socket; what a drone passes on for others.
file(GLOB pqcmav_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "src/*.cpp")
foreach(room crypto keys session shape route line paths handshake net control picture console relay)
  file(GLOB found CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "src/${room}/*.cpp")
  list(APPEND pqcmav_sources ${found})
endforeach()
list(REMOVE_ITEM pqcmav_sources src/config_yaml.cpp)
if(NOT PQCMAV_LIBOQS)
  list(REMOVE_ITEM pqcmav_sources src/crypto/liboqs_provider.cpp)
endif()
add_library(pqcmav_engine STATIC ${pqcmav_sources})
set_target_properties(pqcmav_engine PROPERTIES EXPORT_NAME engine)
configure_file(cmake/version.hpp.in "${CMAKE_CURRENT_BINARY_DIR}/include/pqc_mav_tunnel/version.hpp" @ONLY)
# Internal headers are included by their path below src/ ("net/link.hpp"), by the engine, its tests, fuzzers and
# benchmarks; they are not installed.
target_include_directories(pqcmav_engine PUBLIC
  $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
  $<BUILD_INTERFACE:${CMAKE_CURRENT_BINARY_DIR}/include>
  $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/src>
  $<INSTALL_INTERFACE:include/${PROJECT_NAME}>)
# Compiled once. Every file still includes what it uses: 'make sanitize' builds without them.
target_precompile_headers(pqcmav_engine PRIVATE
  <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <deque> <filesystem> <functional> <map> <memory>
  <mutex> <optional> <set> <span> <string> <thread> <unordered_map> <variant> <vector>)
target_compile_features(pqcmav_engine PUBLIC cxx_std_20)
target_link_libraries(pqcmav_engine PUBLIC OpenSSL::Crypto Threads::Threads)
if(PQCMAV_LIBOQS)
  target_link_libraries(pqcmav_engine PUBLIC OQS::oqs)
else()
  target_compile_definitions(pqcmav_engine PRIVATE PQCMAV_WITHOUT_LIBOQS)
endif()
# Headers alone, which users of the library do not need.
target_link_libraries(pqcmav_engine PRIVATE $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)

add_library(pqcmav_yaml STATIC src/config_yaml.cpp)
target_link_libraries(pqcmav_yaml PUBLIC pqcmav_engine PRIVATE yaml-cpp::yaml-cpp)
