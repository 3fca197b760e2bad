// SPDX-License-Identifier: Apache-2.0
// What a configuration says of the plaintext side. Every refusal throws TunnelError(config_invalid) and names its key.
#pragma once

#include <span>
#include <string>

#include "pqc_mav_tunnel/config.hpp"
#include "text.hpp"

namespace pqcmav {

[[noreturn]] void refuse_address(const std::string& key, const std::string& text, const std::string& why);

/// Of 'plain_bind', 'plain_peer' and 'plain_tap', the first two behind `prefix`.
void check_plain(const std::string& prefix, const std::string& bind, const std::string& peer, const std::string& tap,
                 bool allow_remote);

/// What 'plain' or 'plain_endpoints' says. Beside one of them plain_bind and plain_peer must not say something else; at
/// their defaults they do not, for tools write every key with its value.
Strings check_plain_endpoints(std::span<const ConfigKey> schema, const std::string& prefix, const std::string& plain,
                              Strings several, const std::string& bind, const std::string& peer, bool allow_remote);

}  // namespace pqcmav
