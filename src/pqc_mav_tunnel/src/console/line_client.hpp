// SPDX-License-Identifier: Apache-2.0
// A connection to a control socket: bounded lines, and a deadline for each wait.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "fd.hpp"

namespace pqcmav {

class LineClient {
 public:
  static constexpr std::size_t kLongest = std::size_t{16} << 20;  // an answer about 1,000 drones has 1 MiB

  LineClient() = default;
  /// Connects; `open` says whether that went well, `problem` why not.
  explicit LineClient(const std::filesystem::path& path);

  [[nodiscard]] bool open() const noexcept { return static_cast<bool>(fd_); }
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  [[nodiscard]] const Fd& fd() const noexcept { return fd_; }
  /// Of whoever listens there, as the kernel says.
  [[nodiscard]] pid_t process() const noexcept { return pid_; }
  [[nodiscard]] uid_t user() const noexcept { return uid_; }

  /// False, and closed, where it cannot be sent before `until_ns` or before `stop` is readable.
  bool say(std::string_view line, std::uint64_t until_ns, const Fd& stop);
  /// The next line without its end. Nothing where none came before `until_ns` or before `stop` is readable: still open
  /// then, unless the other side ended it or it was too long.
  std::optional<std::string> hear(std::uint64_t until_ns, const Fd& stop);
  void close(std::string problem);

 private:
  bool wait(short events, std::uint64_t until_ns, const Fd& stop) const;

  Fd fd_;
  std::string in_, problem_;
  std::size_t looked_ = 0;  // bytes of in_ that have no end of a line
  pid_t pid_ = 0;
  uid_t uid_ = static_cast<uid_t>(-1);
};

}  // namespace pqcmav
