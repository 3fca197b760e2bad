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
  bool quick = false;         // a USB adapter passes on at once what came
};

/// Open, non-blocking, raw; what had arrived before is forgotten. Throws TunnelError(io, permission) with what to do.
/// May take a moment: some drivers talk to the device.
Fd open_serial(const SerialOptions& options);
/// Bytes that were written and have not left.
std::size_t held_output(const Fd& port) noexcept;
/// What was written and has not left is thrown away. Returns how many bytes, as far as the driver says it.
std::size_t forget_output(const Fd& port) noexcept;
/// Closes without waiting for what has not been sent.
void close_serial(Fd& port) noexcept;

}  // namespace pqcmav
