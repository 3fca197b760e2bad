// SPDX-License-Identifier: Apache-2.0
// The file by which programs of this machine reach an engine: where it is, who may use it, and whose it is when there
// is one already.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "fd.hpp"
#include "pqc_mav_tunnel/config.hpp"

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
  LocalSocket(LocalSocket&& other) noexcept;
  LocalSocket& operator=(LocalSocket&&) = delete;
  /// Removes the file, if it is still this one.
  ~LocalSocket();

  [[nodiscard]] const Fd& fd() const noexcept { return fd_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  void listen_at(const std::filesystem::path& path, mode_t mode, const std::string& group);

  Fd fd_;
  std::filesystem::path path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace pqcmav
