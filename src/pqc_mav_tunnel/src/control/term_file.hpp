// SPDX-License-Identifier: Apache-2.0
// The highest term that a drone may have used, on disk, so that after its own restart it begins above it
// (docs/protocol.md section 14). Terms are kept in blocks: a change of station does not wait for the disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace pqcmav {

class TermFile {
 public:
  /// `<folder>/<drone_id>.term`; an empty folder: nothing is kept.
  TermFile(const std::filesystem::path& folder, const std::string& drone_id);
  /// 0 when there is none. Throws TunnelError(io, key_format).
  [[nodiscard]] std::uint32_t load();
  /// Before this term is used. Throws TunnelError(io).
  void keep(std::uint32_t term);

 private:
  std::filesystem::path file_;  // empty: none
  std::uint32_t kept_ = 0;
};

}  // namespace pqcmav
