# SPDX-License-Identifier: Apache-2.0
# Runs of operations whose time must not depend on secrets, for tools/constant_time.py. The engine in them is the one that
# is shipped. Valgrind's header, where it is installed, lets memcheck know what is secret.
find_path(PQCMAV_VALGRIND_INCLUDE valgrind/memcheck.h)
add_executable(constant_time EXCLUDE_FROM_ALL constant_time/main.cpp constant_time/engine_subjects.cpp
  constant_time/library_subjects.cpp constant_time/leaks.cpp)
target_include_directories(constant_time PRIVATE . test)
target_link_libraries(constant_time PRIVATE pqcmav_engine GTest::gtest)
target_link_options(constant_time PRIVATE LINKER:--wrap=CRYPTO_memcmp)
set_target_properties(constant_time PROPERTIES UNITY_BUILD OFF)
if(PQCMAV_VALGRIND_INCLUDE)
  target_include_directories(constant_time SYSTEM PRIVATE "${PQCMAV_VALGRIND_INCLUDE}")
  target_compile_definitions(constant_time PRIVATE PQCMAV_MEMCHECK)
endif()
