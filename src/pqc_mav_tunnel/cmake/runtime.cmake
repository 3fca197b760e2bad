target_sources(pqcmav_engine PRIVATE
  src/config.cpp
  src/config_schema.cpp
  src/data_plane.cpp
  src/drone_control.cpp
  src/engine.cpp
  src/events.cpp
  src/gcs_control.cpp
  src/handshake_client.cpp
  src/handshake_server.cpp
  src/key_pool.cpp
  src/link.cpp
  src/link_ledger.cpp
  src/net.cpp
  src/session.cpp
  src/text.cpp
  src/udp_batch.cpp
)
# Internal headers are included as "src/...", by the engine, its tests and its benchmarks alike.
target_include_directories(pqcmav_engine PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}>)
target_compile_definitions(pqcmav_engine PRIVATE PQCMAV_VERSION="${PROJECT_VERSION}")

find_package(yaml-cpp REQUIRED)
add_library(pqcmav_yaml STATIC src/config_yaml.cpp)
target_link_libraries(pqcmav_yaml PUBLIC pqcmav_engine PRIVATE yaml-cpp)

add_executable(pqcmav-tunneld tunneld/main.cpp)
target_link_libraries(pqcmav-tunneld PRIVATE pqcmav_yaml)

