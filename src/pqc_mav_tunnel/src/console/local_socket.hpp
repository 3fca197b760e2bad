// SPDX-License-Identifier: Apache-2.0
// The file by which programs of this machine reach an engine: where it is, who may use it, and whose it is when there
// is one already.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "fd.hpp"
#include "pqc_mav_tunnel/config.hpp"
#include "pqc_mav_tunnel/events.hpp"

namespace pqcmav {

/// Names the folder for control_socket 'auto', for engines and for 'pqcmav'.
inline constexpr const char* kRunFolderVariable = "PQCMAV_RUN_DIR";

/// drone-<id>.sock, gcs.sock, or gcs-<id>.sock where the gcs has a name of its own.
std::string socket_name(const EngineConfig& config);

class LocalSocket {
 public:
  LocalSocket() noexcept = default;
  /// Listens where `control_socket` says. A socket of a dead process is replaced, one that answers never. Throws
  /// TunnelError.
  explicit LocalSocket(const EngineConfig& config);
  /// Listens there, for this user alone.
  explicit LocalSocket(const std::filesystem::path& path) { listen_at(path, 0600, ""); }
  LocalSocket(LocalSocket&& other) noexcept;
  LocalSocket& operator=(LocalSocket&&) = delete;
  /// Removes the file, if it is still this one.
  ~LocalSocket();

  /// Lets those use it whom the configuration names. Throws TunnelError.
  void allow(const EngineConfig& config) const;
  [[nodiscard]] const Fd& fd() const noexcept { return fd_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  void listen_at(const std::filesystem::path& path, mode_t mode, const std::string& group);

  Fd fd_;
  std::filesystem::path path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

/// Where `control_socket` says; nothing where that is 'off', or where the path is a guess and cannot be used, which is
/// logged.
std::optional<LocalSocket> open_local_socket(const EngineConfig& config, EventQueue& events);

}  // namespace pqcmav
