// SPDX-License-Identifier: Apache-2.0
#include "control/blacklist.hpp"

namespace pqcmav {
namespace {

// Where no suite is avoided: long enough to find another one.
constexpr std::uint64_t kFamilyNs = 60'000'000'000;

}  // namespace

void Blacklist::add(const Suite& suite, std::uint64_t now) {
  if (&suite == always_ || ttl_ns_ == 0) return;
  entries_.insert_or_assign(&suite, now + ttl_ns_);
}

void Blacklist::avoid(Families families, std::uint64_t now) {
  avoided_ = families;
  avoided_until_ns_ = now + (ttl_ns_ != 0 ? ttl_ns_ : kFamilyNs);
}

Families Blacklist::avoided(std::uint64_t now) const noexcept {
  return now < avoided_until_ns_ ? avoided_ : Families();
}

void Blacklist::remove(const Suite& suite) {
  entries_.erase(&suite);
  if (avoided_.has(suite)) avoided_ = {};
}

bool Blacklist::contains(const Suite& suite, std::uint64_t now) const {
  if (avoided(now).has(suite)) return true;
  const auto it = entries_.find(&suite);
  return it != entries_.end() && now < it->second;
}

std::vector<const Suite*> Blacklist::entries(std::uint64_t now) {
  std::erase_if(entries_, [now](const auto& item) { return now >= item.second; });
  std::vector<const Suite*> out;
  const auto families = avoided(now);
  if (!families.empty())
    for (const auto& suite : all_suites())
      if (families.has(suite) && availability(suite).available) out.push_back(&suite);
  for (const auto& [suite, until] : entries_)
    if (!families.has(*suite)) out.push_back(suite);
  return out;
}

bool Blacklist::blames_suite(HandshakeError error, std::uint8_t reject_code) noexcept {
  switch (error) {
    case HandshakeError::rejected: {
      const auto code = static_cast<Reject>(reject_code);
      return code == Reject::suite_unknown || code == Reject::suite_not_allowed ||
             code == Reject::algorithm_unavailable;
    }
    case HandshakeError::crypto:
    case HandshakeError::weak_key: return true;
    default: return false;
  }
}

}  // namespace pqcmav
