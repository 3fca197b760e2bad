// SPDX-License-Identifier: Apache-2.0
// What a ground station gives a drone so that it can find its way back, all derived from one key that outlives the
// process: the restart token of a session (docs/protocol.md section 9) and return proofs (section 6). Nothing is kept.
#pragma once

#include <cstdint>
#include <string_view>

#include "bytes.hpp"
#include "constants.hpp"
#include "crypto/secret.hpp"

namespace pqcmav {

/// `address` is IPv6 or IPv4-mapped. Everything throws TunnelError(crypto) if OpenSSL fails.
class RestartKey {
 public:
  explicit RestartKey(Secret<kRestartKeySize> key) noexcept;
  [[nodiscard]] ByteArray<kRestartTokenSize> token(const SessionId& session) const;

  /// TLV 33, from which the drone makes the proof in its next M1.
  struct Return {
    std::uint32_t serial = 0;
    ByteArray<8> address_tag{};
    Secret<kReturnKeySize> return_key;
  };
  [[nodiscard]] Return make_return(std::string_view drone_id, const ByteArray<16>& address, std::uint32_t serial) const;

  /// `drone`: it is who had a session; `drone_and_address`: and that session's path had this very address.
  enum class Proof : std::uint8_t { bad, drone, drone_and_address };
  /// `proof` is M1's field; `m1_prefix` is frame M1 up to and including the proof's address_tag.
  [[nodiscard]] Proof check(ByteView proof, std::string_view drone_id, const ByteArray<16>& address, ByteView m1_prefix,
                            std::uint32_t now_serial) const;

 private:
  [[nodiscard]] Secret<kReturnKeySize> return_key(std::string_view drone_id, std::uint32_t serial) const;
  [[nodiscard]] ByteArray<8> address_tag(std::string_view drone_id, std::uint32_t serial,
                                         const ByteArray<16>& address) const;
  Secret<kRestartKeySize> key_;
};

/// The first part of the proof: serial, address_tag. Its second part is return_mac.
inline constexpr std::size_t kReturnMacSize = 16;
ByteArray<kReturnProofPrefix> return_proof_prefix(std::uint32_t serial, const ByteArray<8>& address_tag) noexcept;
ByteArray<kReturnMacSize> return_mac(const Secret<kReturnKeySize>& return_key, ByteView m1_prefix);

/// Whole hours since 2020-01-01 UTC; 0 before that and where no number fits.
std::uint32_t serial_at(std::int64_t unix_seconds) noexcept;
/// By the calendar clock.
std::uint32_t serial_now() noexcept;

}  // namespace pqcmav
