// SPDX-License-Identifier: Apache-2.0
// Protection of the memory of a process that holds session keys.
#pragma once

#include <string>

namespace pqcmav {

/// Set to "1", a process keeps its core dumps: for developers, with keys that protect nothing.
inline constexpr const char* kCoreDumpsVariable = "PQCMAV_CORE_DUMPS";

/// Disables core dumps for this process and its children, and keeps other processes of the same user from reading its
/// memory (ptrace, /proc/<pid>/mem). Irreversible. No effect where PQCMAV_CORE_DUMPS=1 is set or the system refuses:
/// then it returns a sentence for the log, "" otherwise.
std::string forbid_core_dumps();

}  // namespace pqcmav
