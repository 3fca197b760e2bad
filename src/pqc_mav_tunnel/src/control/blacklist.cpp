// SPDX-License-Identifier: Apache-2.0
#include "control/blacklist.hpp"

namespace pqcmav {

void Blacklist::add(const Suite& suite, std::string reason, std::uint64_t now) {
  if (&suite == always_ || ttl_ns_ == 0) return;
  entries_.insert_or_assign(&suite, Entry{&suite, now + ttl_ns_, std::move(reason)});
}

bool Blacklist::contains(const Suite& suite, std::uint64_t now) const {
  const auto it = entries_.find(&suite);
  return it != entries_.end() && now < it->second.expires_ns;
}

std::vector<Blacklist::Entry> Blacklist::entries(std::uint64_t now) {
  std::erase_if(entries_, [now](const auto& item) { return now >= item.second.expires_ns; });
  std::vector<Entry> out;
  for (const auto& [suite, entry] : entries_) out.push_back(entry);
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
