// SPDX-License-Identifier: Apache-2.0
// What hosts in other languages ask the engine outside a tunnel: suites, algorithms, long-term keys, configuration keys.
#pragma once

#include <string>
#include <string_view>

namespace pqcmav {

/// Answers one call. `name` is that of a function of the Python package pqc_mav_tunnel (_calls.py), `arguments` a JSON
/// object with its arguments by name; the result is JSON too. No key is in either. Throws TunnelError: config_invalid for
/// a name or arguments that are none, and what the function itself throws.
std::string call(std::string_view name, std::string_view arguments);

}  // namespace pqcmav
