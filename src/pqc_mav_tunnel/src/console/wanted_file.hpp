// SPDX-License-Identifier: Apache-2.0
// Whether a tunnel is to be open, beside its door: gcs.wanted beside gcs.sock. It outlasts a crash, not the machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace pqcmav {

class WantedFile {
 public:
  WantedFile() = default;
  explicit WantedFile(std::filesystem::path door) : file_(std::move(door.replace_extension(".wanted"))) {}

  /// Nothing where nothing was asked, or where the file is another user's. One that says something else says "closed".
  [[nodiscard]] std::optional<bool> open() const;
  /// Whole or not at all. Returns a sentence where it cannot, "" otherwise.
  [[nodiscard]] std::string keep(bool open) const;
  void forget() const;

 private:
  std::filesystem::path file_;  // "": there is no door
};

}  // namespace pqcmav
