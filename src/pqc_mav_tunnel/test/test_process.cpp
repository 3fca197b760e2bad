// SPDX-License-Identifier: Apache-2.0
// In a child process, because none of it can be taken back.
#include "pqc_mav_tunnel/process.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace pqcmav {
namespace {

/// The exit code of what a child makes of `check`.
template <typename Check>
int in_child(Check check) {
  const auto child = ::fork();
  if (child == 0) ::_exit(check());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool dumps_allowed() {
  rlimit limit{};
  ::getrlimit(RLIMIT_CORE, &limit);
  return limit.rlim_max != 0 && ::prctl(PR_GET_DUMPABLE) == 1;
}

TEST(Process, ForbidsCoreDumpsAndLooksFromOutside) {
  EXPECT_EQ(in_child([] {
              ::unsetenv(kCoreDumpsVariable);
              if (!forbid_core_dumps().empty()) return 1;
              rlimit limit{1, 1};
              ::getrlimit(RLIMIT_CORE, &limit);
              if (limit.rlim_cur != 0 || limit.rlim_max != 0) return 2;
              return ::prctl(PR_GET_DUMPABLE) == 0 ? 0 : 3;
            }),
            0);
}

TEST(Process, LeavesThemToADeveloperWhoAsks) {
  if (!dumps_allowed()) GTEST_SKIP() << "core dumps are forbidden here already";
  EXPECT_EQ(in_child([] {
              ::setenv(kCoreDumpsVariable, "1", 1);
              const auto said = forbid_core_dumps();
              if (said.find("PQCMAV_CORE_DUMPS=1") == std::string::npos) return 1;
              return dumps_allowed() ? 0 : 2;
            }),
            0);
}

TEST(Process, AnyOtherValueIsNoPermission) {
  for (const auto* value : {"", "0", "yes"})
    EXPECT_EQ(in_child([value] {
                ::setenv(kCoreDumpsVariable, value, 1);
                return forbid_core_dumps().empty() && !dumps_allowed() ? 0 : 1;
              }),
              0)
        << value;
}

}  // namespace
}  // namespace pqcmav
