# SPDX-License-Identifier: Apache-2.0
# Included at the end of every project() call of this workspace (CMAKE_PROJECT_INCLUDE, see colcon.meta).
#
# The ROS 2 wheels export imported targets with an include path of the machine that built the wheels
# (/opt/python/...), which CMake refuses because it does not exist here. It is taken out of them at the end of
# the directory, when all find_package() calls are done. With a ROS 2 installation nothing matches.
include_guard(DIRECTORY)

function(pqcmav_drop_foreign_includes)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(includes ${target} INTERFACE_INCLUDE_DIRECTORIES)
    if(includes MATCHES "/opt/python/")
      list(FILTER includes EXCLUDE REGEX "^/opt/python/")
      set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${includes}")
    endif()
  endforeach()
endfunction()

cmake_language(DEFER CALL pqcmav_drop_foreign_includes)
