// SPDX-License-Identifier: Apache-2.0
// OpenSSL's ML-KEM, ML-DSA and SLH-DSA, if the libcrypto of this process has them: 3.5 and newer do. What it is compiled
// with does not matter. Keys cross as FIPS 203 to 205 write them; messages are signed as they are, with an empty context.
#include <openssl/crypto.h>
#include <openssl/params.h>

#include "crypto/openssl_handles.hpp"
#include "crypto/provider.hpp"

namespace pqcmav {
namespace {

using EvpKemHandle = std::unique_ptr<EVP_KEM, OpensslFree<EVP_KEM_free>>;
using EvpSignatureHandle = std::unique_ptr<EVP_SIGNATURE, OpensslFree<EVP_SIGNATURE_free>>;

/// Nothing stale stays in the error queue of this thread; the caller says what failed.
bool cleared(bool done) noexcept {
  if (!done) ERR_clear_error();
  return done;
}

EvpPkeyHandle public_from(const std::string& name, ByteView key) {
  return EvpPkeyHandle(EVP_PKEY_new_raw_public_key_ex(nullptr, name.c_str(), nullptr, key.data(), key.size()));
}

EvpPkeyHandle secret_from(const std::string& name, ByteView key) {
  return EvpPkeyHandle(EVP_PKEY_new_raw_private_key_ex(nullptr, name.c_str(), nullptr, key.data(), key.size()));
}

EvpPkeyCtxHandle context_of(const EvpPkeyHandle& key) {
  return EvpPkeyCtxHandle(key ? EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr) : nullptr);
}

/// Of what is drawn at random, or of a seed.
EvpPkeyHandle make_key(const std::string& name, Bytes seed) {
  const EvpPkeyCtxHandle ctx(EVP_PKEY_CTX_new_from_name(nullptr, name.c_str(), nullptr));
  const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_octet_string("seed", seed.data(), seed.size()),
                                   OSSL_PARAM_construct_end()};
  EVP_PKEY* made = nullptr;
  if (ctx && EVP_PKEY_keygen_init(ctx.get()) == 1 &&
      (seed.empty() || EVP_PKEY_CTX_set_params(ctx.get(), parameters) == 1))
    (void)EVP_PKEY_generate(ctx.get(), &made);
  return EvpPkeyHandle(made);
}

bool make_pair(const std::string& name, MutableBytes public_key, MutableBytes secret_key, ByteView seed = {}) {
  const auto key = make_key(name, Bytes(seed.begin(), seed.end()));
  auto public_size = public_key.size(), secret_size = secret_key.size();
  return cleared(key && EVP_PKEY_get_raw_public_key(key.get(), public_key.data(), &public_size) == 1 &&
                 EVP_PKEY_get_raw_private_key(key.get(), secret_key.data(), &secret_size) == 1 &&
                 public_size == public_key.size() && secret_size == secret_key.size());
}

class OpensslKem final : public KemOps {
 public:
  explicit OpensslKem(std::string name) : name_(std::move(name)) {}
  bool keypair(MutableBytes public_key, MutableBytes secret_key) const override {
    return make_pair(name_, public_key, secret_key);
  }
  std::optional<bool> keypair_of(ByteView seed, MutableBytes public_key, MutableBytes secret_key) const override {
    return make_pair(name_, public_key, secret_key, seed);
  }
  bool encapsulate(ByteView public_key, MutableBytes ciphertext, MutableBytes shared) const override {
    const auto key = public_from(name_, public_key);
    const auto ctx = context_of(key);
    auto size = ciphertext.size(), shared_size = shared.size();
    return cleared(ctx && EVP_PKEY_encapsulate_init(ctx.get(), nullptr) == 1 &&
                   EVP_PKEY_encapsulate(ctx.get(), ciphertext.data(), &size, shared.data(), &shared_size) == 1 &&
                   size == ciphertext.size() && shared_size == shared.size());
  }
  bool decapsulate(ByteView secret_key, ByteView ciphertext, MutableBytes shared) const override {
    const auto key = secret_from(name_, secret_key);
    const auto ctx = context_of(key);
    auto size = shared.size();
    return cleared(ctx && EVP_PKEY_decapsulate_init(ctx.get(), nullptr) == 1 &&
                   EVP_PKEY_decapsulate(ctx.get(), shared.data(), &size, ciphertext.data(), ciphertext.size()) == 1 &&
                   size == shared.size());
  }

 private:
  std::string name_;
};

class OpensslSig final : public SigOps {
 public:
  explicit OpensslSig(std::string name) : name_(std::move(name)) {}
  bool keypair(MutableBytes public_key, MutableBytes secret_key) const override {
    return make_pair(name_, public_key, secret_key);
  }
  bool sign(ByteView secret_key, ByteView message, MutableBytes signature, std::size_t& size) const override {
    const auto key = secret_from(name_, secret_key);
    const EvpMdCtxHandle ctx(EVP_MD_CTX_new());
    size = signature.size();
    return cleared(key && ctx &&
                   EVP_DigestSignInit_ex(ctx.get(), nullptr, nullptr, nullptr, nullptr, key.get(), nullptr) == 1 &&
                   EVP_DigestSign(ctx.get(), signature.data(), &size, message.data(), message.size()) == 1);
  }
  bool verify(ByteView public_key, ByteView message, ByteView signature) const noexcept override {
    const auto key = public_from(name_, public_key);
    const EvpMdCtxHandle ctx(EVP_MD_CTX_new());
    return cleared(
        key && ctx && EVP_DigestVerifyInit_ex(ctx.get(), nullptr, nullptr, nullptr, nullptr, key.get(), nullptr) == 1 &&
        EVP_DigestVerify(ctx.get(), signature.data(), signature.size(), message.data(), message.size()) == 1);
  }

 private:
  std::string name_;
};

std::string openssl_title() { return std::string("OpenSSL ") + OpenSSL_version(OPENSSL_VERSION_STRING); }

bool in_openssl(const KemInfo& kem) {
  return EvpKemHandle(EVP_KEM_fetch(nullptr, std::string(kem.name).c_str(), nullptr)) != nullptr;
}
bool in_openssl(const SigInfo& sig) {
  return EvpSignatureHandle(EVP_SIGNATURE_fetch(nullptr, std::string(sig.name).c_str(), nullptr)) != nullptr;
}

/// Standards alone: by the name of something else a module that the system loads may mean another version of it.
template <typename Info>
Lookup openssl_lookup(const Info& info) {
  const std::string name(info.name);
  if (info.standard.empty()) return {{}, "OpenSSL has no " + name};
  if (cleared(in_openssl(info))) return {name, {}};
  return {{}, openssl_title() + " has no " + name};
}

class Openssl final : public Provider {
 public:
  std::string_view name() const noexcept override { return "openssl"; }
  std::string title() const override { return openssl_title(); }
  Lookup look_up(const KemInfo& kem) const override { return openssl_lookup(kem); }
  Lookup look_up(const SigInfo& sig) const override { return openssl_lookup(sig); }
  std::unique_ptr<KemOps> open(const KemInfo&, const std::string& name) const override {
    return std::make_unique<OpensslKem>(name);
  }
  std::unique_ptr<SigOps> open(const SigInfo&, const std::string& name) const override {
    return std::make_unique<OpensslSig>(name);
  }
};

}  // namespace

const Provider& openssl_provider() {
  static const Openssl openssl;
  return openssl;
}

}  // namespace pqcmav
