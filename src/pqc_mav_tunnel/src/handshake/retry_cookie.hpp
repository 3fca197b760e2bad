// SPDX-License-Identifier: Apache-2.0
// Retry: proof that a drone receives at the address it sends from, without keeping anything for it
// (docs/protocol.md section 6).
#pragma once

#include <cstdint>
#include <optional>

#include "bytes.hpp"
#include "constants.hpp"
#include "crypto/secret.hpp"
#include "handshake/handshake_datagram.hpp"

namespace pqcmav {

/// Makes and checks cookies under a key that lives as long as the process. `address` is IPv6 or IPv4-mapped, `m1` the
/// whole frame, `now_ns` monotonic. Throws TunnelError(crypto), as all of this header unless noexcept.
class CookieJar {
 public:
  CookieJar();                                  // a random key
  explicit CookieJar(Secret<32> key) noexcept;  // for test vectors
  [[nodiscard]] Cookie make(const ByteArray<16>& address, std::uint16_t port, const AttemptId& attempt, ByteView m1,
                            std::uint64_t now_ns) const;
  [[nodiscard]] bool good(const Cookie& cookie, const ByteArray<16>& address, std::uint16_t port,
                          const AttemptId& attempt, ByteView m1, std::uint64_t now_ns) const;

 private:
  [[nodiscard]] Cookie baked(std::uint32_t second, const ByteArray<16>& address, std::uint16_t port,
                             const AttemptId& attempt, ByteView m1) const;
  Secret<32> key_;
};

inline constexpr std::size_t kRetrySize = 1 + sizeof(AttemptId) + sizeof(Cookie) + kRetryTagSize;
/// The Retry datagram, kRetrySize bytes. `from_gcs_key` is the gcs' half of the attempt's k_f.
Bytes encode_retry(const AttemptId& attempt, const Cookie& cookie, const Secret<32>& from_gcs_key);
/// Its cookie; nullopt when it is no Retry, is for another attempt, or its tag is wrong.
std::optional<Cookie> open_retry(ByteView datagram, const AttemptId& attempt, const Secret<32>& from_gcs_key) noexcept;

}  // namespace pqcmav
