// SPDX-License-Identifier: Apache-2.0
// A serial port: opened for this program alone, as a raw line of bytes at any baud rate.
#pragma once

#include <cstdint>
#include <string>

#include "fd.hpp"

namespace pqcmav {

struct SerialOptions {
  std::string path;
  std::uint32_t baud = 0;
  bool flow_control = false;  // by RTS and CTS
};

/// Open, non-blocking, raw; what had arrived before is forgotten. Throws TunnelError(io, permission) with what to do.
/// May take a moment: some drivers talk to the device.
Fd open_serial(const SerialOptions& options);
/// Closes without waiting for what has not been sent.
void close_serial(Fd& port) noexcept;

}  // namespace pqcmav
