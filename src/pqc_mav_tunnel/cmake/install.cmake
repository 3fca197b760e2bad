# SPDX-License-Identifier: Apache-2.0
# What others get: the daemon, the Python module, and the library with its public headers, which
# find_package(pqc_mav_tunnel) offers as the target pqc_mav_tunnel::engine.
install(TARGETS pqcmav-tunneld RUNTIME DESTINATION bin)
install(TARGETS pqcmav_engine EXPORT ${PROJECT_NAME}-targets ARCHIVE DESTINATION lib)
install(DIRECTORY include/ "${CMAKE_CURRENT_BINARY_DIR}/include/" DESTINATION include/${PROJECT_NAME})

if(ament_cmake_FOUND)
  set(package_folder share/${PROJECT_NAME}/cmake)
else()
  set(package_folder lib/cmake/${PROJECT_NAME})
endif()
install(EXPORT ${PROJECT_NAME}-targets NAMESPACE ${PROJECT_NAME}:: DESTINATION ${package_folder})

if(ament_cmake_FOUND)
  install(TARGETS pqcmav-tunneld RUNTIME DESTINATION lib/${PROJECT_NAME})
  if(TARGET _engine)
    find_package(ament_cmake_python REQUIRED)
    ament_python_install_package(${PROJECT_NAME} PACKAGE_DIR ${CMAKE_CURRENT_SOURCE_DIR}/python/${PROJECT_NAME})
    install(TARGETS _engine LIBRARY DESTINATION ${PYTHON_INSTALL_DIR}/${PROJECT_NAME})
    if(TARGET _testing)
      set_target_properties(_testing PROPERTIES
        LIBRARY_OUTPUT_DIRECTORY "${CMAKE_INSTALL_PREFIX}/${PYTHON_INSTALL_DIR}/${PROJECT_NAME}")
    endif()
  endif()
  # Writes pqc_mav_tunnelConfig.cmake, which includes the extras.
  ament_package(CONFIG_EXTRAS ${CMAKE_CURRENT_SOURCE_DIR}/cmake/${PROJECT_NAME}-extras.cmake)
else()
  include(CMakePackageConfigHelpers)
  write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/${PROJECT_NAME}ConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
  install(FILES cmake/${PROJECT_NAME}-extras.cmake DESTINATION ${package_folder} RENAME ${PROJECT_NAME}Config.cmake)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${PROJECT_NAME}ConfigVersion.cmake" DESTINATION ${package_folder})
endif()
