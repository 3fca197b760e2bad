// SPDX-License-Identifier: Apache-2.0
// Opens a serial port again and again until it is there, and again after it was lost. Each thing is said once.
#pragma once

#include <functional>
#include <optional>

#include "net/serial_port.hpp"
#include "pqc_mav_tunnel/events.hpp"

namespace pqcmav {

class SerialOpener {
 public:
  using Log = std::function<void(LogLevel, std::string)>;
  /// `most_ns`: the longest wait between two tries.
  SerialOpener(SerialOptions options, std::uint64_t most_ns, Log log)
      : options_(std::move(options)), most_ns_(most_ns), log_(std::move(log)) {}

  [[nodiscard]] const SerialOptions& options() const noexcept { return options_; }
  /// The port; nothing while it does not open, and then problem() says why.
  std::optional<Fd> open(std::uint64_t now);
  /// It was lost: closes it.
  void lost(Fd port, std::uint64_t now);
  [[nodiscard]] std::uint64_t due() const noexcept { return due_; }
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

 private:
  static constexpr std::uint64_t kFirst = 250'000'000;

  const SerialOptions options_;
  const std::uint64_t most_ns_;
  Log log_;
  std::uint64_t due_ = 0, again_in_ = kFirst / 2;
  std::string problem_;
};

}  // namespace pqcmav
