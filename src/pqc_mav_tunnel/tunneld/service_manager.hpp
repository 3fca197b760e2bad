// SPDX-License-Identifier: Apache-2.0
// What a service manager such as systemd wants to hear (sd_notify(3)): that the daemon is ready, that it ends, and,
// where a watchdog is set, that it still works.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace pqcmav {

class ServiceManager {
 public:
  /// Nobody listens: every word is lost.
  ServiceManager() = default;
  /// `socket` as in NOTIFY_SOCKET: a path, or @name for an abstract one. `watchdog_usec` and `watchdog_pid` as in
  /// WATCHDOG_USEC and WATCHDOG_PID; what makes no sense, or is for another process, counts as not set.
  ServiceManager(std::string socket, std::string_view watchdog_usec, std::string_view watchdog_pid);
  static ServiceManager from_environment();

  /// Sends lines such as "READY=1". True when the manager has them; a daemon goes on either way.
  bool tell(std::string_view lines) const noexcept;
  /// Without a WATCHDOG=1 in this time the manager ends the daemon.
  [[nodiscard]] std::optional<std::chrono::microseconds> watchdog() const noexcept { return watchdog_; }

 private:
  std::string socket_;
  std::optional<std::chrono::microseconds> watchdog_;
};

}  // namespace pqcmav
