// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/families.hpp"

#include <algorithm>
#include <tuple>

#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

struct Group {
  std::string_view name;
  std::vector<std::string_view> families;
};

const std::vector<Group>& groups() {
  static const std::vector<Group> table = {{"lattices", {"ML-KEM", "FrodoKEM", "ML-DSA", "Falcon"}},
                                           {"codes", {"HQC", "Classic-McEliece"}},
                                           {"hashes", {"SPHINCS+", "SLH-DSA"}}};
  return table;
}

constexpr std::uint16_t bit_of(const KemInfo& kem) noexcept {
  return static_cast<std::uint16_t>(1U << (kem.family_id - 1));
}
constexpr std::uint16_t bit_of(const SigInfo& sig) noexcept {
  return static_cast<std::uint16_t>(1U << (sig.family_id + 7));
}

/// Without regard to case, as names of suites are read.
std::uint16_t bits_of_family(std::string_view name) {
  const auto wanted = lowered(name);
  std::uint16_t out = 0;
  for (const auto& kem : kems())
    if (lowered(kem.family) == wanted) out |= bit_of(kem);
  for (const auto& sig : sigs())
    if (lowered(sig.family) == wanted) out |= bit_of(sig);
  return out;
}

std::uint16_t bits_of(const Group& group) {
  std::uint16_t out = 0;
  for (const auto family : group.families) out |= bits_of_family(family);
  return out;
}

struct Level {
  std::string_view name;
  std::uint8_t level;
  std::uint16_t bit;
};
constexpr Level kLevels[] = {{"level1", 1, 0x4000}, {"level3", 3, 0x8000}};

constexpr std::uint16_t bit_of_level(std::uint8_t level) noexcept {
  for (const auto& each : kLevels)
    if (each.level == level) return each.bit;
  return 0;
}

void add(std::string& list, std::string_view name) { list.append(list.empty() ? "" : ", ").append(name); }

}  // namespace

Families Families::named(std::string_view name) {
  for (const auto& group : groups())
    if (group.name == lowered(name)) return Families(bits_of(group));
  for (const auto& level : kLevels)
    if (level.name == lowered(name)) return Families(level.bit);
  if (const auto bits = bits_of_family(name); bits != 0) return Families(bits);
  std::string known;
  for (const auto& group : groups()) add(known, group.name);
  for (const auto& group : groups())
    for (const auto family : group.families) add(known, family);
  for (const auto& level : kLevels) add(known, level.name);
  throw TunnelError(Errc::config_invalid, "'avoid': there is no family '" + std::string(name.substr(0, 40)) +
                                              "' of algorithms; there are " + known + ".");
}

Families Families::of(const std::vector<std::string>& names) {
  std::uint16_t out = 0;
  for (const auto& name : names) out |= named(name).bits();
  return Families(out);
}

bool Families::has(const Suite& suite) const noexcept {
  return (bits_ & (bit_of(*suite.kem) | bit_of(*suite.sig) | bit_of_level(suite.level))) != 0;
}

bool Families::has(const KemInfo& kem) const noexcept { return (bits_ & bit_of(kem)) != 0; }

bool Families::leaves_a_suite() const {
  return std::ranges::any_of(all_suites(), [this](const auto& suite) { return !has(suite); });
}

std::string Families::text() const {
  std::string out;
  auto left = bits_;
  for (const auto& group : groups()) {
    const auto bits = bits_of(group);
    if ((left & bits) != bits) continue;
    left = static_cast<std::uint16_t>(left & ~bits);
    add(out, group.name);
  }
  for (const auto& group : groups())
    for (const auto family : group.families)
      if ((left & bits_of_family(family)) != 0) add(out, family);
  for (const auto& level : kLevels)
    if ((left & level.bit) != 0) add(out, level.name);
  return out;
}

std::vector<const Suite*> successors(const Suite& from, std::uint8_t lowest, Families avoided) {
  std::vector<const Suite*> out;
  for (const auto& suite : all_suites())
    if (suite.level >= lowest && &suite != &from && !avoided.has(suite)) out.push_back(&suite);
  const auto rank = [&](const Suite* suite) {
    const auto superseded = [](const auto& part) { return part.edition == Edition::superseded; };
    return std::tuple(suite->level, suite->aead != from.aead, superseded(*suite->kem) || superseded(*suite->sig),
                      suite->kem->public_key + suite->kem->ciphertext + suite->sig->signature_max, !suite->standard());
  };
  std::ranges::stable_sort(out, {}, rank);
  return out;
}

}  // namespace pqcmav
