// SPDX-License-Identifier: Apache-2.0
#include "crypto/kdf.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>

#include "crypto/openssl_handles.hpp"

namespace pqcmav {
namespace {

constexpr std::size_t kDigest = 32, kBlock = 64;

// Fetching walks the providers; it is done once per process.
const EVP_MD* digest() {
  static const EvpMdHandle md(EVP_MD_fetch(nullptr, "SHA256", nullptr));
  if (!md) throw openssl_error("provide SHA-256");
  return md.get();
}

EvpMdCtxHandle start() {
  EvpMdCtxHandle ctx(EVP_MD_CTX_new());
  if (!ctx || EVP_DigestInit_ex2(ctx.get(), digest(), nullptr) != 1) throw openssl_error("start SHA-256");
  return ctx;
}

void update(const EvpMdCtxHandle& ctx, ByteView bytes) {
  if (EVP_DigestUpdate(ctx.get(), bytes.data(), bytes.size()) != 1) throw openssl_error("compute SHA-256");
}

Hash finish(const EvpMdCtxHandle& ctx) {
  Hash out;
  if (EVP_DigestFinal_ex(ctx.get(), out.data(), nullptr) != 1) throw openssl_error("finish SHA-256");
  return out;
}

}  // namespace

Hash sha256(std::initializer_list<ByteView> parts) {
  const auto ctx = start();
  for (const auto part : parts) update(ctx, part);
  return finish(ctx);
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
  const auto inner = start();
  update(inner, inner_key.view());
  for (const auto part : parts) update(inner, part);
  Hash inside = finish(inner);
  const auto outer = start();
  update(outer, outer_key.view());
  update(outer, inside);
  wipe(inside);
  return finish(outer);
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
