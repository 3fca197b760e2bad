// SPDX-License-Identifier: Apache-2.0
// A socket of the test is the service manager.
#include "service_manager.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "fd.hpp"
#include "temp_folder.hpp"

namespace pqcmav {
namespace {

using namespace test;

/// Bound to `name` as in NOTIFY_SOCKET.
Fd manager_at(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.data(), name.size());
  if (name[0] == '@') address.sun_path[0] = '\0';
  Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) fd.reset();
  return fd;
}

std::string heard(const Fd& manager) {
  std::array<char, 256> buffer{};
  const auto got = ::recv(manager.get(), buffer.data(), buffer.size(), 0);
  return got < 0 ? "(nothing)" : std::string(buffer.data(), static_cast<std::size_t>(got));
}

TEST(ServiceManager, HearsWhatItIsToldAtAPathAndAtAnAbstractName) {
  const TempFolder folder;
  for (const auto& name : {(folder / "notify").string(), "@pqcmav-test-" + std::to_string(::getpid())}) {
    const auto socket = manager_at(name);
    ASSERT_TRUE(socket) << name;
    const ServiceManager manager(name, "", "");
    EXPECT_TRUE(manager.tell("READY=1\nSTATUS=here"));
    EXPECT_EQ(heard(socket), "READY=1\nSTATUS=here");
    EXPECT_FALSE(manager.watchdog());
  }
}

TEST(ServiceManager, NobodyThereIsNoProblem) {
  const TempFolder folder;
  EXPECT_FALSE(ServiceManager().tell("READY=1"));
  for (const std::string& name :
       {(folder / "nobody").string(), std::string("relative"), std::string("@"), "/" + std::string(200, 'x')})
    EXPECT_FALSE(ServiceManager(name, "", "").tell("READY=1")) << name;
}

TEST(ServiceManager, AFullQueueDoesNotHoldTheDaemonUp) {
  const TempFolder folder;
  const auto name = (folder / "notify").string();
  const auto socket = manager_at(name);
  const ServiceManager manager(name, "", "");
  int most = 100'000;
  while (most > 0 && manager.tell("WATCHDOG=1")) --most;
  EXPECT_GT(most, 0) << "the queue never filled";
}

TEST(ServiceManager, TheWatchdogIsForThisProcessAndForSensibleTimes) {
  const auto own = std::to_string(::getpid());
  const auto watchdog = [](std::string_view usec, std::string_view pid) {
    return ServiceManager("/run/notify", usec, pid).watchdog();
  };
  EXPECT_EQ(watchdog("3000000", ""), std::chrono::seconds(3));
  EXPECT_EQ(watchdog("3000000", own), std::chrono::seconds(3));
  EXPECT_FALSE(watchdog("3000000", "1"));
  EXPECT_FALSE(watchdog("3000000", own + "x"));
  for (const auto* usec : {"", "0", "-1", "3s", " 3", "99999999999999999999", "86400000001"})
    EXPECT_FALSE(watchdog(usec, "")) << usec;
  EXPECT_FALSE(ServiceManager("", "3000000", "").watchdog()) << "nobody to feed it for";
}

}  // namespace
}  // namespace pqcmav
