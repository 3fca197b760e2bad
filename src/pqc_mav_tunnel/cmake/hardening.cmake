# SPDX-License-Identifier: Apache-2.0
# Flags that make a defect harder to exploit and keep secrets from lingering, for everything the engine builds.
include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)  # a program's addresses are drawn at each start

# All symbols are bound at start: the table of addresses is read-only from then on, and the lazy binder, which saves
# vector registers (and with them keys) on the stack of whoever calls, never runs.
add_link_options(LINKER:-z,relro LINKER:-z,now)

check_cxx_compiler_flag(-fstack-protector-strong PQCMAV_HAS_STACK_PROTECTOR)
if(PQCMAV_HAS_STACK_PROTECTOR)
  add_compile_options(-fstack-protector-strong)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|i.86")
  check_cxx_compiler_flag(-fcf-protection PQCMAV_HAS_CF_PROTECTION)
  if(PQCMAV_HAS_CF_PROTECTION)
    add_compile_options(-fcf-protection)
  endif()
  # What is linked with the start-up files of a system that does not mark them is not marked either, unless the linker is
  # told. They are no hindrance to a shadow stack; where jumps may go (IBT) they do not say, so that is said nowhere.
  check_linker_flag(CXX LINKER:-z,shstk PQCMAV_HAS_SHADOW_STACK)
  if(PQCMAV_HAS_CF_PROTECTION AND PQCMAV_HAS_SHADOW_STACK)
    add_link_options(LINKER:-z,shstk)
  endif()
endif()
add_compile_definitions(_GLIBCXX_ASSERTIONS)

# Sizes checked inside libc's functions: level 3 where the compiler and the C library know it, 2 or nothing elsewhere.
# It needs optimisation, and the sanitizers replace those functions by their own checks.
if(NOT PQCMAV_SANITIZE)
  foreach(level 3 2)
    set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level}")
    check_cxx_source_compiles("#include <cstring>\nint main() { return 0; }" PQCMAV_HAS_FORTIFY_${level})
    unset(CMAKE_REQUIRED_FLAGS)
    if(PQCMAV_HAS_FORTIFY_${level})
      set(optimised $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
      add_compile_options($<${optimised}:-U_FORTIFY_SOURCE> $<${optimised}:-D_FORTIFY_SOURCE=${level}>)
      break()
    endif()
  endforeach()
endif()
