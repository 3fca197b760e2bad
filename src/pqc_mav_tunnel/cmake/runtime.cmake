target_sources(pqcmav_engine PRIVATE
  src/blacklist.cpp
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
  src/lookup.cpp
  src/net.cpp
  src/plain_tap.cpp
  src/process.cpp
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
include(cmake/runtime_tests.cmake)

pqcmav_test(blacklist)

if(PQCMAV_PYTHON AND NOT PQCMAV_FUZZ)
  find_package(Python3 REQUIRED COMPONENTS Interpreter Development)
  if(NOT pybind11_DIR)
    execute_process(COMMAND ${Python3_EXECUTABLE} -m pybind11 --cmakedir
      OUTPUT_VARIABLE pybind11_DIR OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  set(PYBIND11_FINDPYTHON ON)
  set(Python_EXECUTABLE ${Python3_EXECUTABLE})
  find_package(pybind11 REQUIRED)
  pybind11_add_module(_engine python/module.cpp python/bind_engine.cpp python/bind_registry.cpp python/bind_keys.cpp
    python/bind_handshake.cpp python/bind_codec.cpp)
  target_link_libraries(_engine PRIVATE pqcmav_engine)
endif()

if(PQCMAV_BENCH AND NOT PQCMAV_FUZZ)
  foreach(name handshake_bench plain_forwarder udp_load duplex_load)
    add_executable(${name} bench/${name}.cpp)
    target_link_libraries(${name} PRIVATE pqcmav_engine)
    install(TARGETS ${name} RUNTIME DESTINATION lib/${PROJECT_NAME})
  endforeach()
endif()

install(TARGETS pqcmav-tunneld RUNTIME DESTINATION bin)
if(ament_cmake_FOUND)
  install(TARGETS pqcmav-tunneld RUNTIME DESTINATION lib/${PROJECT_NAME})
  if(PQCMAV_PYTHON AND NOT PQCMAV_FUZZ)
    find_package(ament_cmake_python REQUIRED)
    ament_python_install_package(${PROJECT_NAME} PACKAGE_DIR ${CMAKE_CURRENT_SOURCE_DIR}/python/${PROJECT_NAME})
    install(TARGETS _engine LIBRARY DESTINATION ${PYTHON_INSTALL_DIR}/${PROJECT_NAME})
  endif()
  ament_package()
endif()
