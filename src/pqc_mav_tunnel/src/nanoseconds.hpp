// SPDX-License-Identifier: Apache-2.0
// Units of the engine's times and durations.
#pragma once

#include <cstdint>

namespace pqcmav {

inline constexpr std::uint64_t kMs = 1'000'000, kS = 1'000 * kMs;  // ns

}  // namespace pqcmav
