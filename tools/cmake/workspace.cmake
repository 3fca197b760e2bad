# SPDX-License-Identifier: Apache-2.0
# Included at the end of every project() call of this workspace (CMAKE_PROJECT_INCLUDE, see colcon.meta).
#
# The ROS 2 wheels export imported targets with paths of the machine that built the wheels: an include path
# (/opt/python/...), which CMake refuses because it does not exist here, and a library of Fast DDS' own
# (/usr/lib64/libtinyxml2.so), which the wheel brings under another name. They are taken out at the end of the
# directory, when all find_package() calls are done. With a ROS 2 installation nothing matches.
include_guard(DIRECTORY)

function(pqcmav_drop_foreign_paths)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(includes ${target} INTERFACE_INCLUDE_DIRECTORIES)
    if(includes MATCHES "/opt/python/")
      list(FILTER includes EXCLUDE REGEX "^/opt/python/")
      set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${includes}")
    endif()
    get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
    if(libraries MATCHES "/usr/lib64/libtinyxml2.so" AND NOT EXISTS /usr/lib64/libtinyxml2.so)
      list(REMOVE_ITEM libraries /usr/lib64/libtinyxml2.so)
      set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}")
    endif()
  endforeach()
endfunction()

# The code that rosidl generates for each type of message includes the same large headers: many files in one
# translation unit take a third of the time. Not rosidl_generator_c, whose files define the same names.
function(pqcmav_compile_type_support_together)
  get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    if(target MATCHES "__rosidl_typesupport_")
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
    endif()
  endforeach()
endfunction()

cmake_language(DEFER CALL pqcmav_compile_type_support_together)
cmake_language(DEFER CALL pqcmav_drop_foreign_paths)
