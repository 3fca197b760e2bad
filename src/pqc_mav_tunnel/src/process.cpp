// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/process.hpp"

#include "text.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <cerrno>

namespace pqcmav {

std::string forbid_core_dumps() {
  if (environment(kCoreDumpsVariable) == "1")
    return std::string("Core dumps are allowed (") + kCoreDumpsVariable + "=1): one would contain the session keys.";
  const rlimit none{0, 0};
  if (::setrlimit(RLIMIT_CORE, &none) != 0 || ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
    return "Cannot forbid core dumps: " + system_reason(errno) + "; one would contain the session keys.";
  return "";
}

}  // namespace pqcmav
