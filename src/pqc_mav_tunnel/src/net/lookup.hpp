// SPDX-License-Identifier: Apache-2.0
// Host names to addresses for a thread that must be able to stop waiting.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "net/net.hpp"

namespace pqcmav {

/// Every address of a host, or nullopt when `cancel_fd` (an eventfd) became readable first, or after `limit_ms` (-1:
/// none); throws TunnelError(address). A name service without a network takes up to half a minute to say so and cannot be
/// interrupted: names are looked up by a thread of its own, which is abandoned once nobody waits for it any more.
std::optional<std::vector<SockAddr>> lookup(const std::string& host, std::uint16_t port, int socket_type, int cancel_fd,
                                            int limit_ms = -1);

}  // namespace pqcmav
