// SPDX-License-Identifier: Apache-2.0
// The table behind the registry: algorithms, and which KEM goes with which signature.
#pragma once

#include <cstdint>
#include <span>

#include "pqc_mav_tunnel/suites.hpp"

namespace pqcmav {

/// One row: a KEM and a signature of equal level. Every AEAD combines with it.
struct SuitePair {
  const KemInfo* kem;
  const SigInfo* sig;
  bool campaign_2025;  // measured in October 2025, with the AEADs marked below
};

/// In the order in which suites are listed: level, KEM, signature.
std::span<const SuitePair> suite_pairs() noexcept;
/// The campaign of October 2025 measured two of the three AEADs.
bool in_campaign_2025(const AeadInfo& aead) noexcept;

}  // namespace pqcmav
