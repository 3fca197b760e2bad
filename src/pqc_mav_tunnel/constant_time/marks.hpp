// SPDX-License-Identifier: Apache-2.0
// Tells valgrind's memcheck which memory is secret, after A. Langley's ctgrind: secret is undefined, and whatever
// branches on it, or uses it as an address, is reported. Without valgrind's header, and outside valgrind, it does nothing.
#pragma once

#include "bytes.hpp"

#ifdef PQCMAV_MEMCHECK
#include <valgrind/memcheck.h>
#endif

namespace pqcmav::constant_time {

#ifdef PQCMAV_MEMCHECK
inline bool under_memcheck() { return RUNNING_ON_VALGRIND != 0; }
inline void make_secret(MutableBytes bytes) { (void)VALGRIND_MAKE_MEM_UNDEFINED(bytes.data(), bytes.size()); }
inline void make_public(ByteView bytes) { (void)VALGRIND_MAKE_MEM_DEFINED(bytes.data(), bytes.size()); }
#else
inline bool under_memcheck() { return false; }
inline void make_secret(MutableBytes) {}
inline void make_public(ByteView) {}
#endif

}  // namespace pqcmav::constant_time
