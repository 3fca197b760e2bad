// SPDX-License-Identifier: Apache-2.0
// Families of KEMs and signatures, and security levels, that a ground station makes no keys with any more.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pqc_mav_tunnel/suites.hpp"

namespace pqcmav {

/// A set of families, in two bytes as a Reject has them (docs/protocol.md section 4): bit n - 1 is the KEMs of
/// family_id n, bit 7 + n the signatures of family_id n; bits 14 and 15 are all suites of levels 1 and 3.
class Families {
 public:
  constexpr Families() noexcept = default;
  constexpr explicit Families(std::uint16_t bits) noexcept : bits_(bits) {}
  /// By a family's name ("ML-KEM", "SPHINCS+") or that of what it rests on: lattices, codes, hashes; or level1,
  /// level3; without regard to case. Throws TunnelError(config_invalid) with the names there are.
  static Families named(std::string_view name);
  static Families of(const std::vector<std::string>& names);

  [[nodiscard]] constexpr std::uint16_t bits() const noexcept { return bits_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
  [[nodiscard]] bool has(const Suite& suite) const noexcept;
  [[nodiscard]] bool has(const KemInfo& kem) const noexcept;
  [[nodiscard]] bool leaves_a_suite() const;
  /// The fewest names: "lattices, HQC".
  [[nodiscard]] std::string text() const;
  bool operator==(const Families&) const = default;

 private:
  std::uint16_t bits_ = 0;
};

/// Where to go from a suite that is avoided, best first: of the `lowest` level that may be, then above; with its cipher,
/// with nothing superseded, and with the shortest handshake. Whether anybody has them is not asked.
std::vector<const Suite*> successors(const Suite& from, std::uint8_t lowest, Families avoided);

}  // namespace pqcmav
