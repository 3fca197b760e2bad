// SPDX-License-Identifier: Apache-2.0
#include "service_manager.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "fd.hpp"
#include "text.hpp"

namespace pqcmav {

ServiceManager::ServiceManager(std::string socket, std::string_view watchdog_usec, std::string_view watchdog_pid)
    : socket_(std::move(socket)) {
  const auto usec = number_of<std::uint64_t>(watchdog_usec);
  const bool ours =
      watchdog_pid.empty() || number_of<std::uint64_t>(watchdog_pid) == static_cast<std::uint64_t>(::getpid());
  // A day is more than anybody sets, and far from overflow.
  constexpr std::uint64_t most = 86'400'000'000;
  if (!socket_.empty() && ours && usec && *usec > 0 && *usec <= most) watchdog_ = std::chrono::microseconds(*usec);
}

ServiceManager ServiceManager::from_environment() {
  return {environment("NOTIFY_SOCKET"), environment("WATCHDOG_USEC"), environment("WATCHDOG_PID")};
}

bool ServiceManager::tell(std::string_view lines) const noexcept {
  sockaddr_un to{};
  if (socket_.size() < 2 || socket_.size() >= sizeof to.sun_path || (socket_[0] != '/' && socket_[0] != '@'))
    return false;
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, socket_.data(), socket_.size());
  if (to.sun_path[0] == '@') to.sun_path[0] = '\0';
  const Fd sender(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  return ::sendto(sender.get(), lines.data(), lines.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&to),
                  size) == static_cast<ssize_t>(lines.size());
}

}  // namespace pqcmav
