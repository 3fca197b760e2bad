// SPDX-License-Identifier: Apache-2.0
// The bound that FIPS 204 sets the response of an ML-DSA signature.
#pragma once

#include <string_view>

#include "bytes.hpp"

namespace pqcmav {

/// Whether each coefficient of z is within the bound (FIPS 204, algorithm 8, line 13); true for other algorithms. The
/// verification of liboqs 0.13.0 with AVX2 leaves it out (Wycheproof's InfinityNormViolation), so that only z's encoding
/// bounds it, at gamma1 instead of gamma1 - beta. It is looked at here, whoever computes the rest.
bool mldsa_norm_good(std::string_view token, ByteView signature) noexcept;

}  // namespace pqcmav
