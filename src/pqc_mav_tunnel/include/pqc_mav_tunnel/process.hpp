// What a process that holds session keys owes them.
#pragma once

#include <string>

namespace pqcmav {

/// Set to "1", a process keeps its core dumps: for developers, with keys that protect nothing.
inline constexpr const char* kCoreDumpsVariable = "PQCMAV_CORE_DUMPS";

/// Forbids this process and its children core dumps, and other processes of the same user to read its memory (ptrace, /proc/<pid>/mem). Irreversible. Without
/// effect where PQCMAV_CORE_DUMPS=1 is set, or, which the sentence says, where the system refuses. Returns what a log should say, "" when all is done.
std::string forbid_core_dumps();

}  // namespace pqcmav
