#include "pqc_mav_tunnel/kdf.hpp"

#include <openssl/core_names.h>
#include <openssl/params.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>

#include "openssl_handles.hpp"

namespace pqcmav {
namespace {

constexpr std::size_t kDigest = 32;

// Fetching walks the providers; it is done once per process.
const EVP_MD* digest() {
  static const EvpMdHandle md(EVP_MD_fetch(nullptr, "SHA256", nullptr));
  if (!md) throw openssl_error("provide SHA-256");
  return md.get();
}

EVP_MAC* mac() {
  static const EvpMacHandle handle(EVP_MAC_fetch(nullptr, "HMAC", nullptr));
  if (!handle) throw openssl_error("provide HMAC");
  return handle.get();
}

}  // namespace

Hash sha256(std::initializer_list<ByteView> parts) {
  const EvpMdCtxHandle ctx(EVP_MD_CTX_new());
  if (!ctx || EVP_DigestInit_ex2(ctx.get(), digest(), nullptr) != 1) throw openssl_error("start SHA-256");
  for (const auto part : parts) {
    if (EVP_DigestUpdate(ctx.get(), part.data(), part.size()) != 1) throw openssl_error("compute SHA-256");
  }
  Hash out;
  if (EVP_DigestFinal_ex(ctx.get(), out.data(), nullptr) != 1) throw openssl_error("finish SHA-256");
  return out;
}

Hash hmac_sha256(ByteView key, std::initializer_list<ByteView> parts) {
  // RFC 2104 pads the key with zeros, so an empty key is one of zeros; OpenSSL would take a null key for "keep the last one".
  static constexpr ByteArray<kDigest> kEmptyKey{};
  if (key.empty()) key = kEmptyKey;
  char name[] = "SHA256";
  const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0), OSSL_PARAM_construct_end()};
  const EvpMacCtxHandle ctx(EVP_MAC_CTX_new(mac()));
  if (!ctx || EVP_MAC_init(ctx.get(), key.data(), key.size(), params) != 1) throw openssl_error("start HMAC-SHA256");
  for (const auto part : parts) {
    if (EVP_MAC_update(ctx.get(), part.data(), part.size()) != 1) throw openssl_error("compute HMAC-SHA256");
  }
  Hash out;
  std::size_t size = 0;
  if (EVP_MAC_final(ctx.get(), out.data(), &size, out.size()) != 1 || size != out.size()) throw openssl_error("finish HMAC-SHA256");
  return out;
}

Secret<32> hkdf_extract(ByteView salt, ByteView ikm) {
  Hash prk = hmac_sha256(salt, {ikm});
  Secret<32> out{std::span<const std::uint8_t, 32>(prk)};
  wipe(prk);
  return out;
}

void hkdf_expand(ByteView prk, ByteView info, MutableBytes out) {
  if (out.size() > 255 * kDigest) {
    throw TunnelError(Errc::crypto, "HKDF-Expand was asked for " + std::to_string(out.size()) + " bytes; RFC 5869 allows at most 8160.");
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

bool constant_time_equal(ByteView a, ByteView b) noexcept { return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0; }

void random_bytes(MutableBytes out) {
  while (!out.empty()) {
    const auto got = getrandom(out.data(), out.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw TunnelError(Errc::crypto, "The operating system gave no random bytes; getrandom() failed, which a working Linux never does.");
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace pqcmav
