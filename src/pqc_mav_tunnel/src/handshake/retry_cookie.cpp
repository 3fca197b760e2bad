// SPDX-License-Identifier: Apache-2.0
#include "handshake/retry_cookie.hpp"

#include <algorithm>
#include <utility>

#include "crypto/kdf.hpp"
#include "nanoseconds.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

// A hundred years of monotonic seconds fit; the difference of two is right beyond that, too.
std::uint32_t second_of(std::uint64_t now_ns) noexcept { return static_cast<std::uint32_t>(now_ns / kS); }

}  // namespace

CookieJar::CookieJar() { random_bytes(key_.mut()); }
CookieJar::CookieJar(Secret<32> key) noexcept : key_(std::move(key)) {}

Cookie CookieJar::baked(std::uint32_t second, const ByteArray<16>& address, std::uint16_t port,
                        const AttemptId& attempt, ByteView m1) const {
  Cookie out{};
  store_be(out.data(), second);
  ByteArray<2> port_bytes;
  store_be(port_bytes.data(), port);
  const auto mac = hmac_sha256(key_.view(), {ByteView(out).first(4), address, port_bytes, attempt, sha256({m1})});
  std::copy_n(mac.begin(), out.size() - 4, out.begin() + 4);
  return out;
}

Cookie CookieJar::make(const ByteArray<16>& address, std::uint16_t port, const AttemptId& attempt, ByteView m1,
                       std::uint64_t now_ns) const {
  return baked(second_of(now_ns), address, port, attempt, m1);
}

bool CookieJar::good(const Cookie& cookie, const ByteArray<16>& address, std::uint16_t port, const AttemptId& attempt,
                     ByteView m1, std::uint64_t now_ns) const {
  const auto second = load_be<std::uint32_t>(cookie.data());
  const auto age = static_cast<std::uint32_t>(second_of(now_ns) - second);  // huge for one from the future
  if (age > kCookieGoodForS) return false;
  return constant_time_equal(cookie, baked(second, address, port, attempt, m1));
}

Bytes encode_retry(const AttemptId& attempt, const Cookie& cookie, const Secret<32>& from_gcs_key) {
  Bytes out;
  out.reserve(kRetrySize);
  append_be(out, kRetryType);
  append(out, attempt);
  append(out, cookie);
  const auto tag = hmac_sha256(from_gcs_key.view(), {out});
  append(out, ByteView(tag).first(kRetryTagSize));
  return out;
}

std::optional<Cookie> open_retry(ByteView datagram, const AttemptId& attempt, const Secret<32>& from_gcs_key) noexcept
    try {
  if (datagram.size() != kRetrySize || datagram[0] != kRetryType) return std::nullopt;
  ByteReader reader(datagram.subspan(1));
  AttemptId named;
  Cookie cookie;
  if (!reader.into(named) || named != attempt || !reader.into(cookie)) return std::nullopt;
  const auto tag = hmac_sha256(from_gcs_key.view(), {datagram.first(kRetrySize - kRetryTagSize)});
  if (!constant_time_equal(datagram.last(kRetryTagSize), ByteView(tag).first(kRetryTagSize))) return std::nullopt;
  return cookie;
} catch (const TunnelError&) {
  return std::nullopt;
}

}  // namespace pqcmav
