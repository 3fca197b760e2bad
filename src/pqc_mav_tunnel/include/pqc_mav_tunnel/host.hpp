// SPDX-License-Identifier: Apache-2.0
// One end of a tunnel for as long as its program runs: the door (control socket), the journal of events, where the
// configuration comes from, and an engine while the tunnel is open. A refused configuration is an answer, not an end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pqc_mav_tunnel/config.hpp"
#include "pqc_mav_tunnel/events.hpp"
#include "pqc_mav_tunnel/status.hpp"

namespace pqcmav {

/// Inactive: the configuration and the keys are good, and no socket but the door is open.
enum class HostState : std::uint8_t { unconfigured, inactive, active };
std::string_view to_string(HostState state) noexcept;

struct HostView {
  HostState state = HostState::active;
  std::string problem = {};  // why it is not what was wanted, a sentence; "" = it is
  bool wanted = true;        // that it is open: it was asked last, or the start says so
  bool starting = false;     // nothing was read and opened yet, as the start says
};

class Host {
 public:
  struct Sources {
    /// The configuration as it is now. Throws TunnelError.
    std::function<FlatConfig()> read;
    std::vector<std::string> files;
  };

  explicit Host(Sources sources);
  /// Closes the tunnel, then the door.
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // From any thread. One change at a time; what cannot be throws TunnelError, and everything stays as it was.

  /// Opens the door there, before anything is read, instead of where the configuration says. Until that is known it is
  /// for this user alone. Until somebody asks, the tunnel is to be as `begin` says.
  void open_door(const std::filesystem::path& path, bool open = true);
  /// Reads configuration and keys. Not while the tunnel is open.
  HostView configure();
  /// Opens the tunnel, or leaves it closed: as was asked last, also before a crash, and otherwise as `open` says. Opens
  /// the door first, unless it is open.
  HostView begin(bool open = true);
  /// Opens the tunnel, and keeps beside the door that it is to be open.
  HostView resume();
  /// Closes it, and keeps that beside the door: no crash opens it again.
  HostView pause();
  /// Reads configuration and keys again. An open tunnel goes on with them; a closed one that is to be open is opened.
  ReloadOutcome reload(bool dry_run = false);
  /// Closes the tunnel and the door; the events end. Idempotent.
  void stop();

  [[nodiscard]] HostView view() const;
  /// What was read last, with the current drones. Throws TunnelError while there is none.
  [[nodiscard]] EngineConfig config() const;
  /// Of an inactive tunnel every port is 0, and every link down.
  [[nodiscard]] EnginePorts ports() const;
  [[nodiscard]] std::vector<LinkStatus> status() const;
  /// Rises while an open tunnel's packet thread works, and while the tunnel is closed.
  [[nodiscard]] std::uint64_t heartbeat() const;
  [[nodiscard]] EventQueue& events() noexcept;
  /// Path of the door; "" without one.
  [[nodiscard]] std::string door() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pqcmav
