// SPDX-License-Identifier: Apache-2.0
// The return grant of a drone on disk, so that after its own restart the gcs knows it again (docs/protocol.md section 6).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "handshake/handshake.hpp"

namespace pqcmav {

/// One drone's grant from one ground station, `<folder>/<drone_id>.<gcs_id>.key`, written as keys are.
class ReturnFile {
 public:
  ReturnFile(const std::filesystem::path& folder, std::string drone_id, std::string gcs_id);
  /// Replaces what is there; makes the folder where there is none. Throws TunnelError (io, key_permissions).
  void store(const ReturnTicket& ticket) const;
  /// nullopt: there is none. Throws TunnelError (key_missing, key_permissions, key_format), also where it is another
  /// drone's or gcs', damaged, or by `serial_now` too old for any gcs. One from the future is good: a drone's clock may
  /// be wrong, and the gcs judges by its own.
  [[nodiscard]] std::optional<ReturnTicket> load(std::uint32_t serial_now) const;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return file_; }

 private:
  std::string drone_id_, gcs_id_;
  std::filesystem::path file_;
};

}  // namespace pqcmav
