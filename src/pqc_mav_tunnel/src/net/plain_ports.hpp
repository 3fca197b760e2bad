// SPDX-License-Identifier: Apache-2.0
// The kinds of endpoints that a PlainHub has.
#pragma once

#include <memory>
#include <string>

#include "net/plain_hub.hpp"

namespace pqcmav {

/// Opens its socket, and a serial port later. Throws TunnelError.
std::unique_ptr<PlainPort> make_plain_port(PlainHub& hub, std::size_t index, const PlainEndpoint& endpoint,
                                           const std::string& key);

}  // namespace pqcmav
