# SPDX-License-Identifier: Apache-2.0
# The daemon. With the C++ library and the YAML reader inside the program it maps only what it uses of them, and one
# daemon takes 0.8 MB less of memory. OpenSSL and the C library stay the system's: they are what gets security updates.
add_executable(pqcmav-tunneld tunneld/main.cpp)
target_link_libraries(pqcmav-tunneld PRIVATE pqcmav_daemon nlohmann_json::nlohmann_json)
# A shared YAML reader would bring the shared C++ library again, beside the one inside.
find_library(PQCMAV_YAML_INSIDE NAMES libyaml-cpp.a)
if(PQCMAV_YAML_INSIDE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT PQCMAV_SANITIZE)
  target_sources(pqcmav-tunneld PRIVATE src/config_yaml.cpp)
  target_include_directories(pqcmav-tunneld PRIVATE $<TARGET_PROPERTY:yaml-cpp::yaml-cpp,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(pqcmav-tunneld PRIVATE ${PQCMAV_YAML_INSIDE})
  target_link_options(pqcmav-tunneld PRIVATE -static-libstdc++ -static-libgcc LINKER:--gc-sections)
else()
  target_link_libraries(pqcmav-tunneld PRIVATE pqcmav_yaml)
endif()
