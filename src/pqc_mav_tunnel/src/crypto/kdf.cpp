// SPDX-License-Identifier: Apache-2.0
#include "crypto/kdf.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>

#include "crypto/running_hash.hpp"

namespace pqcmav {
namespace {

constexpr std::size_t kDigest = 32, kBlock = 64;

}  // namespace

Hash sha256(std::initializer_list<ByteView> parts) {
  RunningHash hash;
  for (const auto part : parts) hash.add(part);
  return hash.finish();
}

// Spelt out over SHA-256: OpenSSL's own HMAC looks its digest up by name in every call, which takes longer than the
// hashing.
Hash hmac_sha256(ByteView key, std::initializer_list<ByteView> parts) {
  Secret<kBlock> inner_key, outer_key;
  if (key.size() > kBlock) {
    Hash hashed = sha256({key});
    std::copy(hashed.begin(), hashed.end(), inner_key.mut().begin());
    wipe(hashed);
  } else {
    std::copy(key.begin(), key.end(), inner_key.mut().begin());
  }
  for (std::size_t i = 0; i < kBlock; ++i) {
    outer_key.mut()[i] = inner_key.view()[i] ^ 0x5c;
    inner_key.mut()[i] ^= 0x36;
  }
  RunningHash inner, outer;
  inner.add(inner_key.view());
  for (const auto part : parts) inner.add(part);
  Hash inside = inner.finish();
  outer.add(outer_key.view());
  outer.add(inside);
  wipe(inside);
  return outer.finish();
}

Secret<32> hkdf_extract(ByteView salt, ByteView ikm) {
  Hash prk = hmac_sha256(salt, {ikm});
  Secret<32> out{std::span<const std::uint8_t, 32>(prk)};
  wipe(prk);
  return out;
}

void hkdf_expand(ByteView prk, ByteView info, MutableBytes out) {
  if (out.size() > 255 * kDigest) {
    throw TunnelError(Errc::crypto, "HKDF-Expand was asked for " + std::to_string(out.size()) +
                                        " bytes; RFC 5869 allows at most 8160.");
  }
  Secret<kDigest> previous;
  std::uint8_t counter = 1;
  for (std::size_t done = 0; done < out.size(); ++counter) {
    const ByteView chain = done == 0 ? ByteView{} : ByteView(previous.view());
    Hash block = hmac_sha256(prk, {chain, info, {&counter, 1}});
    previous = Secret<kDigest>(std::span<const std::uint8_t, kDigest>(block));
    wipe(block);
    const auto count = std::min(kDigest, out.size() - done);
    std::copy_n(previous.view().begin(), count, out.begin() + static_cast<std::ptrdiff_t>(done));
    done += count;
  }
}

bool constant_time_equal(ByteView a, ByteView b) noexcept {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void random_bytes(MutableBytes out) {
  while (!out.empty()) {
    const auto got = getrandom(out.data(), out.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      throw TunnelError(
          Errc::crypto,
          "The operating system gave no random bytes: getrandom() failed, which never happens on a working Linux.");
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace pqcmav
