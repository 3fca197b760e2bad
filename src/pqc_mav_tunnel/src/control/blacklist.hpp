// SPDX-License-Identifier: Apache-2.0
// Suites whose handshake failed recently. Automatic choices (policy, periodic rekey, reconnect) avoid them; an explicit
// request may still try, and success forgets the entry. The default suite is not listed, so something always remains,
// unless the gcs says that it avoids the family.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "handshake/handshake.hpp"

namespace pqcmav {

class Blacklist {
 public:
  /// `always` is the suite that can never be listed.
  Blacklist(const Suite& always, std::uint64_t ttl_ns) : always_(&always), ttl_ns_(ttl_ns) {}

  void add(const Suite& suite, std::uint64_t now);
  /// What a gcs says that it makes no keys with. Its newest word counts, for as long as an entry does.
  void avoid(Families families, std::uint64_t now);
  [[nodiscard]] Families avoided(std::uint64_t now) const noexcept;
  /// It works, so its families are not avoided either.
  void remove(const Suite& suite);
  [[nodiscard]] bool contains(const Suite& suite, std::uint64_t now) const;
  /// What is listed now, of avoided families what this machine has; forgets what expired.
  std::vector<const Suite*> entries(std::uint64_t now);

  /// Does this failure count against the suite, rather than against the network or the moment?
  static bool blames_suite(HandshakeError error, std::uint8_t reject_code) noexcept;

 private:
  const Suite* always_;
  std::uint64_t ttl_ns_;
  std::map<const Suite*, std::uint64_t> entries_;  // until when
  Families avoided_;
  std::uint64_t avoided_until_ns_ = 0;
};

}  // namespace pqcmav
