# SPDX-License-Identifier: Apache-2.0
# CMake toolchain of 'make arm64': the cross compiler of Debian and Ubuntu, and the libraries that
# tools/arm64_sysroot.sh unpacked.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

get_filename_component(arm64_sysroot "${CMAKE_CURRENT_LIST_DIR}/../../.deps/arm64/sysroot" ABSOLUTE)
# Not CMAKE_SYSROOT: the compiler brings its own C library to compile with.
set(CMAKE_FIND_ROOT_PATH "${arm64_sysroot}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# Libraries and headers in the sysroot, or where a build names them (liboqs); never this machine's own.
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# FindOpenSSL would take pkg-config's word for this machine's.
set(ENV{PKG_CONFIG_LIBDIR} "${arm64_sysroot}/usr/lib/aarch64-linux-gnu/pkgconfig")
# opensslconf.h is in the folder of the architecture.
set(CMAKE_C_STANDARD_INCLUDE_DIRECTORIES "${arm64_sysroot}/usr/include/aarch64-linux-gnu")
set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES "${CMAKE_C_STANDARD_INCLUDE_DIRECTORIES}")
