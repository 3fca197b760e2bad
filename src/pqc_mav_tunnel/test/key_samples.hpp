// SPDX-License-Identifier: Apache-2.0
// What several tests of keys on disk begin with.
#pragma once

#include <string_view>

#include "crypto/kem_sig.hpp"

namespace pqcmav::test {

/// A PSK of bytes 00..1f, in the format as documented in keystore.hpp.
inline constexpr std::string_view kPskText =
    "pqcmav-key 1\nkind: psk\nalgorithm: psk\nowner: alpha\n"
    "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n";

inline const SigInfo& mldsa44() { return *find_sig("mldsa44"); }

}  // namespace pqcmav::test
