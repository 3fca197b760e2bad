# SPDX-License-Identifier: Apache-2.0
#
# Given to liboqs' build as CMAKE_PROJECT_INCLUDE: adds the compat source to the library without touching liboqs'
# own files. Deferred, because the target does not exist yet when project() runs.
set(_liboqs_vendor_source "${CMAKE_CURRENT_LIST_DIR}/sig_supports_ctx_str.c")
cmake_language(EVAL CODE
  "cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]] CALL target_sources oqs PRIVATE [[${_liboqs_vendor_source}]])")
