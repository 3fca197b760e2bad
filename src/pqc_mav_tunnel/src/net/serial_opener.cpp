// SPDX-License-Identifier: Apache-2.0
#include "net/serial_opener.hpp"

#include <algorithm>

#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {

std::optional<Fd> SerialOpener::open(std::uint64_t now) {
  try {
    auto port = open_serial(options_);
    problem_.clear();
    again_in_ = kFirst / 2;
    log_(LogLevel::info, "The serial port " + options_.path + " is open at " + std::to_string(options_.baud) + " baud" +
                             (options_.flow_control ? " with flow control." : "."));
    return port;
  } catch (const TunnelError& error) {
    again_in_ = std::min(again_in_ * 2, most_ns_);
    due_ = now + again_in_;
    if (problem_ == error.what()) return std::nullopt;
    problem_ = error.what();
    log_(LogLevel::warning, problem_ + " It is tried again until it opens.");
    return std::nullopt;
  }
}

void SerialOpener::lost(Fd port, std::uint64_t now) {
  close_serial(port);
  problem_ = "The serial port " + options_.path + " was lost.";
  log_(LogLevel::warning, problem_ + " It is opened again as soon as it is back.");
  due_ = now + again_in_;
}

}  // namespace pqcmav
