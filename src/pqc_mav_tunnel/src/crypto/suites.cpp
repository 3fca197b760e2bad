// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/suites.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "constants.hpp"
#include "crypto/provider.hpp"
#include "crypto/suites_table.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

Suite make_suite(const KemInfo& kem, const SigInfo& sig, const AeadInfo& aead) {
  const auto joined = [](std::string_view first, std::string_view second, std::string_view third) {
    return std::string(first).append("-").append(second).append("-").append(third);
  };
  Suite out;
  out.id = "cs-" + joined(kem.token, aead.token, sig.token);
  out.short_code = joined(kem.short_code, aead.short_code, sig.short_code);
  out.kem = &kem;
  out.sig = &sig;
  out.aead = &aead;
  out.level = kem.level;
  out.published = kem.edition != Edition::later && sig.edition != Edition::later && aead.edition != Edition::later;
  out.core = out.published && kem.core && sig.core;
  out.campaign_2025 = in_campaign_2025(kem, sig, aead);
  return out;
}

std::vector<Suite> build() {
  std::vector<Suite> out;
  for (const std::uint8_t level : {1, 3, 5}) {
    for (const auto& kem : kems()) {
      if (kem.level != level) continue;
      for (const auto& sig : sigs()) {
        for (const auto& aead : aeads()) {
          if (make_a_suite(kem, sig, aead)) out.push_back(make_suite(kem, sig, aead));
        }
      }
    }
  }
  return out;
}

bool in_view(const Suite& suite, SuiteView view) noexcept {
  switch (view) {
    case SuiteView::core: return suite.core;
    case SuiteView::extended: return suite.published;
    case SuiteView::campaign_2025: return suite.campaign_2025;
    case SuiteView::standard: return suite.standard();
    case SuiteView::all: return true;
  }
  return false;
}

const std::unordered_map<std::string, const Suite*>& by_name() {
  static const auto map = [] {
    std::unordered_map<std::string, const Suite*> out;
    for (const auto& suite : all_suites()) {
      out.emplace(lowered(suite.id), &suite);
      out.emplace(lowered(suite.short_code), &suite);
    }
    return out;
  }();
  return map;
}

constexpr std::size_t kTellingSize = 3;  // fewer letters are in the names of half of all suites
constexpr std::size_t kMisspelt = 3;     // a third of the letters may be wrong

/// "ml-768" as "ml" and "768".
std::vector<std::string> parts_of(std::string_view text) {
  const auto is_name = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (is_name(c)) {
      out.back() += c;
    } else if (!out.back().empty()) {
      out.emplace_back();
    }
  }
  return out;
}

/// What a user typed, not too long for a message.
std::string shortened(std::string_view text) {
  return std::string(text.substr(0, kNameMax)) + (text.size() > kNameMax ? "..." : "");
}

}  // namespace

std::string_view to_string(Edition edition) noexcept {
  return name_in<Edition::later>({"lasting", "superseded", "later"}, edition, "invalid");
}

const KemInfo* find_kem(std::string_view token) noexcept {
  const auto found = std::ranges::find(kems(), token, &KemInfo::token);
  return found == kems().end() ? nullptr : &*found;
}

const SigInfo* find_sig(std::string_view token) noexcept {
  const auto found = std::ranges::find(sigs(), token, &SigInfo::token);
  return found == sigs().end() ? nullptr : &*found;
}

std::span<const Suite> all_suites() {
  static const std::vector<Suite> suites = build();
  return suites;
}

const Suite* find_suite(std::string_view id_or_code) {
  if (id_or_code.size() > kNameMax) return nullptr;
  const auto found = by_name().find(lowered(id_or_code));
  return found == by_name().end() ? nullptr : found->second;
}

const Suite& require_suite(std::string_view id_or_code) { return require_suite(id_or_code, provider_choice()); }

const Suite& require_suite(std::string_view id_or_code, ProviderChoice choice) {
  const Suite* suite = find_suite(id_or_code);
  if (suite == nullptr) {
    const auto closest = listed(closest_suites(id_or_code));
    throw TunnelError(Errc::suite_unknown,
                      "There is no suite \"" + shortened(id_or_code) + "\"; " +
                          (closest.empty() ? "'pqcmav suites' lists all" : "the closest are " + closest) + ".");
  }
  if (const auto& state = availability(*suite, choice); !state.available) {
    throw TunnelError(Errc::suite_unavailable, "The suite " + suite->id + " cannot be used here: " + state.reason);
  }
  return *suite;
}

std::vector<std::string> closest_suites(std::string_view text, std::size_t count) {
  const auto wanted = lowered(text.substr(0, kNameMax));
  const auto parts = parts_of(wanted);
  const auto letters = std::accumulate(parts.begin(), parts.end(), std::size_t{0},
                                       [](std::size_t sum, const std::string& part) { return sum + part.size(); });
  std::vector<std::pair<std::size_t, const Suite*>> ranked, misspelt;
  for (const auto& suite : all_suites()) {
    const auto code = edit_distance(wanted, suite.short_code);
    const auto id = edit_distance(wanted, suite.id);
    const auto names = lowered(suite.id + ' ' + suite.short_code);
    const bool has_all =
        std::ranges::all_of(parts, [&](const auto& part) { return names.find(part) != std::string::npos; });
    if (letters >= kTellingSize && has_all) {
      ranked.emplace_back(std::min(code, id), &suite);
    } else if (kMisspelt * code <= suite.short_code.size() || kMisspelt * id <= suite.id.size()) {
      misspelt.emplace_back(std::min(code, id), &suite);
    }
  }
  if (ranked.empty()) ranked = std::move(misspelt);
  std::ranges::stable_sort(ranked, {}, [](const auto& entry) { return entry.first; });
  ranked.resize(std::min(count, ranked.size()));
  std::vector<std::string> out;
  for (const auto& entry : ranked) out.push_back(entry.second->id);
  return out;
}

std::vector<const Suite*> suites_in(SuiteView view, bool only_available) {
  std::vector<const Suite*> out;
  for (const auto& suite : all_suites())
    if (in_view(suite, view) && (!only_available || availability(suite).available)) out.push_back(&suite);
  return out;
}

}  // namespace pqcmav
