// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <system_error>

namespace pqcmav {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const auto replace = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, diagonal + 1, replace});
    }
  }
  return row.back();
}

Strings closest_text(std::string_view text, const Strings& known, std::size_t count) {
  text = text.substr(0, 256);  // a name is never longer; keeps the cost of nonsense bounded
  std::vector<std::pair<std::size_t, const std::string*>> ranked;
  for (const auto& each : known) {
    const auto distance = edit_distance(text, each);
    if (distance * 10 <= std::max(text.size(), each.size()) * 6) ranked.emplace_back(distance, &each);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Strings out;
  for (std::size_t i = 0; i < std::min(count, ranked.size()); ++i) out.push_back(*ranked[i].second);
  return out;
}

std::string system_reason(int code) { return std::generic_category().message(code); }

}  // namespace pqcmav
