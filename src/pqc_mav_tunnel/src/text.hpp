// SPDX-License-Identifier: Apache-2.0
// Small helpers for the sentences people read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pqcmav {

using Strings = std::vector<std::string>;

/// Levenshtein distance, without regard to ASCII case.
std::size_t edit_distance(std::string_view a, std::string_view b);
/// Up to `count` of `known` in order of distance to `text`; far-off ones (distance above 60 % of the longer length) are
/// left out.
Strings closest_text(std::string_view text, const Strings& known, std::size_t count);

/// What the system says of an errno value.
std::string system_reason(int code);

}  // namespace pqcmav
