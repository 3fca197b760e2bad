# SPDX-License-Identifier: Apache-2.0
# For find_package(pqc_mav_tunnel): defines pqc_mav_tunnel::engine and finds what it needs. Part of the package's
# configuration file under ament, and all of it under plain CMake.
include(CMakeFindDependencyMacro)
find_package(liboqs_vendor QUIET)  # in a workspace: puts liboqs on the prefix path
find_package(liboqs 0.13 QUIET)  # unless the engine was built without it
find_dependency(OpenSSL 3.0)
find_dependency(Threads)
include("${CMAKE_CURRENT_LIST_DIR}/pqc_mav_tunnel-targets.cmake")
