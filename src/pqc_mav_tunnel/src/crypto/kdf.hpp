// SPDX-License-Identifier: Apache-2.0
// Hashes, MACs and key derivation through OpenSSL: SHA-256 (FIPS 180-4), HMAC (RFC 2104), HKDF (RFC 5869).
#pragma once

#include <concepts>
#include <initializer_list>

#include "bytes.hpp"
#include "crypto/secret.hpp"

namespace pqcmav {

using Hash = ByteArray<32>;

/// SHA-256 of the concatenation of `parts`. Throws TunnelError(crypto) if OpenSSL fails, as all of this header.
Hash sha256(std::initializer_list<ByteView> parts);
Hash hmac_sha256(ByteView key, std::initializer_list<ByteView> parts);
Secret<32> hkdf_extract(ByteView salt, ByteView ikm);
/// `out.size()` <= 255 * 32.
void hkdf_expand(ByteView prk, ByteView info, MutableBytes out);
/// Compares in time that depends on the sizes alone.
bool constant_time_equal(ByteView a, ByteView b) noexcept;
/// Fills `out` from the operating system's generator.
void random_bytes(MutableBytes out);
/// A number of the same origin.
template <std::unsigned_integral Number>
Number random_number() {
  ByteArray<sizeof(Number)> bytes;
  random_bytes(bytes);
  return load_be<Number>(bytes.data());
}

}  // namespace pqcmav
