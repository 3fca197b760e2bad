// SPDX-License-Identifier: Apache-2.0
#include "handshake/restart_key.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "crypto/kdf.hpp"

namespace pqcmav {
namespace {

constexpr std::string_view kTokenLabel = "PQMAV/3 restart", kReturnLabel = "PQMAV/3 return",
                           kAddressLabel = "PQMAV/3 address";

/// label || lp(drone_id) || serial
Bytes labelled(std::string_view label, std::string_view drone_id, std::uint32_t serial) {
  Bytes out;
  append(out, as_bytes(label));
  append_lp(out, as_bytes(drone_id));
  append_be(out, serial);
  return out;
}

template <std::size_t N>
ByteArray<N> first_of(const Hash& mac) noexcept {
  ByteArray<N> out;
  std::copy_n(mac.begin(), N, out.begin());
  return out;
}

}  // namespace

RestartKey::RestartKey(Secret<kRestartKeySize> key) noexcept : key_(std::move(key)) {}

ByteArray<kRestartTokenSize> RestartKey::token(const SessionId& session) const {
  return first_of<kRestartTokenSize>(hmac_sha256(key_.view(), {as_bytes(kTokenLabel), session}));
}

Secret<kReturnKeySize> RestartKey::return_key(std::string_view drone_id, std::uint32_t serial) const {
  auto mac = hmac_sha256(key_.view(), {labelled(kReturnLabel, drone_id, serial)});
  Secret<kReturnKeySize> out{std::span<const std::uint8_t, kReturnKeySize>(mac)};
  wipe(mac);
  return out;
}

ByteArray<8> RestartKey::address_tag(std::string_view drone_id, std::uint32_t serial,
                                     const ByteArray<16>& address) const {
  return first_of<8>(hmac_sha256(key_.view(), {labelled(kAddressLabel, drone_id, serial), address}));
}

RestartKey::Return RestartKey::make_return(std::string_view drone_id, const ByteArray<16>& address,
                                           std::uint32_t serial) const {
  return {serial, address_tag(drone_id, serial, address), return_key(drone_id, serial)};
}

RestartKey::Proof RestartKey::check(ByteView proof, std::string_view drone_id, const ByteArray<16>& address,
                                    ByteView m1_prefix, std::uint32_t now_serial) const {
  if (proof.size() != kReturnProofPrefix + kReturnMacSize || m1_prefix.size() < kReturnProofPrefix) return Proof::bad;
  // The MAC is over M1 and the key is the serial's: both must speak of this very proof.
  if (!std::ranges::equal(m1_prefix.last(kReturnProofPrefix), proof.first(kReturnProofPrefix))) return Proof::bad;
  const auto serial = load_be<std::uint32_t>(proof.data());
  const auto hours = std::max(serial, now_serial) - std::min(serial, now_serial);
  if (hours > kReturnGoodForHours) return Proof::bad;
  const auto mac = return_mac(return_key(drone_id, serial), m1_prefix);
  if (!constant_time_equal(proof.subspan(kReturnProofPrefix), mac)) return Proof::bad;
  const auto tag = address_tag(drone_id, serial, address);
  return constant_time_equal(proof.subspan(4, tag.size()), tag) ? Proof::drone_and_address : Proof::drone;
}

ByteArray<kReturnProofPrefix> return_proof_prefix(std::uint32_t serial, const ByteArray<8>& address_tag) noexcept {
  ByteArray<kReturnProofPrefix> out;
  store_be(out.data(), serial);
  std::ranges::copy(address_tag, out.begin() + sizeof serial);
  return out;
}

ByteArray<kReturnMacSize> return_mac(const Secret<kReturnKeySize>& return_key, ByteView m1_prefix) {
  return first_of<kReturnMacSize>(hmac_sha256(return_key.view(), {m1_prefix}));
}

std::uint32_t serial_at(std::int64_t unix_seconds) noexcept {
  constexpr std::int64_t k2020 = 1'577'836'800, kHour = 3600;
  const auto hours = unix_seconds < k2020 ? 0 : (unix_seconds - k2020) / kHour;
  return hours > std::numeric_limits<std::uint32_t>::max() ? 0 : static_cast<std::uint32_t>(hours);
}

std::uint32_t serial_now() noexcept {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return serial_at(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

}  // namespace pqcmav
