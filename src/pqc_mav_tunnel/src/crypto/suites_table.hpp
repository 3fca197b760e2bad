// SPDX-License-Identifier: Apache-2.0
// What the registry is made of, beside the algorithms: which of them make a suite.
#pragma once

#include "pqc_mav_tunnel/suites.hpp"

namespace pqcmav {

/// KEM and signature of one level, and no superseded algorithm beside a later one.
bool make_a_suite(const KemInfo& kem, const SigInfo& sig, const AeadInfo& aead) noexcept;
bool in_campaign_2025(const KemInfo& kem, const SigInfo& sig, const AeadInfo& aead) noexcept;

}  // namespace pqcmav
