// SPDX-License-Identifier: Apache-2.0
// Lines out of a stream of bytes, none longer than a limit.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace pqcmav {

class LineBuffer {
 public:
  explicit LineBuffer(std::size_t longest) : longest_(longest) {}

  /// How much more may be added; 0 while a line waits to be taken.
  [[nodiscard]] std::size_t room() const noexcept { return longest_ + 1 - bytes_.size(); }
  /// At most `room()` bytes.
  void add(std::string_view bytes) { bytes_.append(bytes); }
  [[nodiscard]] bool has_line() const noexcept { return bytes_.find('\n') != std::string::npos; }
  /// A line began that is longer than allowed.
  [[nodiscard]] bool too_long() const noexcept { return bytes_.size() > longest_ && !has_line(); }
  /// The next line as it is, "" while there is none.
  [[nodiscard]] std::string_view front() const noexcept {
    const auto end = bytes_.find('\n');
    return end == std::string::npos ? std::string_view() : std::string_view(bytes_).substr(0, end);
  }
  /// The next line, without its end.
  std::optional<std::string> take() {
    const auto end = bytes_.find('\n');
    if (end == std::string::npos) return std::nullopt;
    auto line = bytes_.substr(0, end);
    bytes_.erase(0, end + 1);
    return line;
  }

 private:
  std::size_t longest_;
  std::string bytes_;
};

}  // namespace pqcmav
