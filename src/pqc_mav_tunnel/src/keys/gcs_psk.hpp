// SPDX-License-Identifier: Apache-2.0
// What a ground station holds of a drone's PSK (docs/protocol.md section 2).
#pragma once

#include <string_view>

#include "crypto/secret.hpp"

namespace pqcmav {

/// HKDF-Expand of the drone's own PSK for the ground station of this id. A captured ground station cannot play another
/// one with it.
Psk psk_of_gcs(const Psk& psk_drone, std::string_view gcs_id);

}  // namespace pqcmav
