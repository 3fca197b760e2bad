// SPDX-License-Identifier: Apache-2.0
// An engine in a process of its own, a pqcmav-tunneld, asked through its control socket. The tunnel goes on without this
// process; here it is opened and closed only where somebody asks for that.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <thread>

#include "failure.hpp"
#include "host.hpp"
#include "pqc_mav_tunnel/config.hpp"
#include "pqc_mav_tunnel/socket_door.hpp"

namespace pqc_mav_proxy_cpp {

class DaemonHost final : public Host {
 public:
  /// Looks for it from now on. `together`: it has to be the one that was started together with this process. Throws
  /// Failure for a configuration without a door.
  DaemonHost(const pqcmav::FlatConfig& config, bool together);
  ~DaemonHost() override { close(); }

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// What it said of itself last, an empty object while it is away.
  [[nodiscard]] Json hello() const;
  [[nodiscard]] std::string network() const override;
  /// Waits until it is there and has read what it starts with. Throws Failure.
  void settle(std::chrono::milliseconds limit = std::chrono::seconds(10)) const;
  /// Has it do `configure`, `resume` or `pause`. What it refuses is thrown as a Failure with the exit code that fits.
  void change(const std::string& command);
  /// Handshakes of before as far as they are latched, and all of now; those of the door are among them.
  void listen(OnEvents on_events) override;
  /// Leaves the daemon alone.
  void stop() override { close(); }

 private:
  std::string answer(const std::string& request) override { return door_.ask(request); }
  void pump(const OnEvents& on_events);
  /// Whether an event is of before; handshakes are kept for those who subscribe late.
  bool is_old(const Json& event);
  void close();

  std::filesystem::path path_;
  pqcmav::SocketDoor door_;
  std::atomic<bool> stopping_ = false;
  std::uint64_t old_until_ = 0;  // events with lower numbers were there before this process looked
  std::deque<Json> kept_;
  bool found_ = false;
  std::jthread pump_;
};

}  // namespace pqc_mav_proxy_cpp
