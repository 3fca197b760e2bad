// SPDX-License-Identifier: Apache-2.0
// liboqs, 0.13 and newer: what of its algorithms is exactly that of the table. What it removed or renamed since is told
// by name and sizes.
#include <oqs/oqs.h>

#include <initializer_list>
#include <mutex>

#include "crypto/kdf.hpp"
#include "crypto/provider.hpp"

namespace pqcmav {
namespace {

struct KemFree {
  void operator()(OQS_KEM* kem) const noexcept { OQS_KEM_free(kem); }
};
struct SigFree {
  void operator()(OQS_SIG* sig) const noexcept { OQS_SIG_free(sig); }
};
using KemHandle = std::unique_ptr<OQS_KEM, KemFree>;
using SigHandle = std::unique_ptr<OQS_SIG, SigFree>;

class LiboqsKem final : public KemOps {
 public:
  explicit LiboqsKem(KemHandle kem) noexcept : kem_(std::move(kem)) {}
  bool keypair(MutableBytes public_key, MutableBytes secret_key) const override {
    return OQS_KEM_keypair(kem_.get(), public_key.data(), secret_key.data()) == OQS_SUCCESS;
  }
  std::optional<bool> keypair_of(ByteView seed, MutableBytes public_key, MutableBytes secret_key) const override {
    if (seed.size() != kem_->length_keypair_seed) return std::nullopt;
    return OQS_KEM_keypair_derand(kem_.get(), public_key.data(), secret_key.data(), seed.data()) == OQS_SUCCESS;
  }
  bool encapsulate(ByteView public_key, MutableBytes ciphertext, MutableBytes shared) const override {
    return OQS_KEM_encaps(kem_.get(), ciphertext.data(), shared.data(), public_key.data()) == OQS_SUCCESS;
  }
  bool decapsulate(ByteView secret_key, ByteView ciphertext, MutableBytes shared) const override {
    return OQS_KEM_decaps(kem_.get(), shared.data(), ciphertext.data(), secret_key.data()) == OQS_SUCCESS;
  }

 private:
  KemHandle kem_;
};

class LiboqsSig final : public SigOps {
 public:
  explicit LiboqsSig(SigHandle sig) noexcept : sig_(std::move(sig)) {}
  bool keypair(MutableBytes public_key, MutableBytes secret_key) const override {
    return OQS_SIG_keypair(sig_.get(), public_key.data(), secret_key.data()) == OQS_SUCCESS;
  }
  bool sign(ByteView secret_key, ByteView message, MutableBytes signature, std::size_t& size) const override {
    return OQS_SIG_sign(sig_.get(), signature.data(), &size, message.data(), message.size(), secret_key.data()) ==
           OQS_SUCCESS;
  }
  bool verify(ByteView public_key, ByteView message, ByteView signature) const noexcept override {
    return OQS_SIG_verify(sig_.get(), message.data(), message.size(), signature.data(), signature.size(),
                          public_key.data()) == OQS_SUCCESS;
  }

 private:
  SigHandle sig_;
};

struct Size {
  const char* what;
  std::size_t table, library;
};

/// "" when all sizes agree; else what differs.
std::string difference(std::initializer_list<Size> sizes) {
  for (const auto& size : sizes) {
    if (size.table != size.library) {
      return std::string("its ") + size.what + " has " + std::to_string(size.library) + " bytes there and " +
             std::to_string(size.table) + " in the suite table";
    }
  }
  return {};
}

std::string difference(const KemInfo& info, const OQS_KEM& kem) {
  return difference({{"public key", info.public_key, kem.length_public_key},
                     {"secret key", info.secret_key, kem.length_secret_key},
                     {"ciphertext", info.ciphertext, kem.length_ciphertext},
                     {"shared secret", info.shared_secret, kem.length_shared_secret}});
}

std::string difference(const SigInfo& info, const OQS_SIG& sig) {
  return difference({{"public key", info.public_key, sig.length_public_key},
                     {"secret key", info.secret_key, sig.length_secret_key},
                     {"signature", info.signature_max, sig.length_signature}});
}

bool enabled(const KemInfo&, const char* name) { return OQS_KEM_alg_is_enabled(name) == 1; }
bool enabled(const SigInfo&, const char* name) { return OQS_SIG_alg_is_enabled(name) == 1; }
KemHandle made(const KemInfo&, const char* name) { return KemHandle(OQS_KEM_new(name)); }
SigHandle made(const SigInfo&, const char* name) { return SigHandle(OQS_SIG_new(name)); }

/// liboqs by itself asks OpenSSL, which takes one lock for all threads each time (RAND_get_rand_method). The thread of the
/// key pool may lose the processor inside of it, and on a busy machine it gets it back after minutes, while others spin.
void from_kernel(std::uint8_t* out, std::size_t size) noexcept { random_bytes({out, size}); }

void begin() {
  static std::once_flag once;
  std::call_once(once, [] {
    OQS_init();
    OQS_randombytes_custom_algorithm(from_kernel);
  });
}

template <typename Info>
Lookup liboqs_lookup(const Info& info) {
  begin();
  std::string names, mismatch;
  for (const auto candidate : info.oqs_names) {
    if (candidate.empty()) continue;
    const std::string name(candidate);
    names += (names.empty() ? "" : " or ") + name;
    if (!enabled(info, name.c_str())) continue;
    const auto algorithm = made(info, name.c_str());
    if (!algorithm) continue;
    const auto differs = difference(info, *algorithm);
    if (differs.empty()) return {name, {}};
    mismatch = name + " of liboqs " + OQS_version() + " is another version of the algorithm (" + differs + ")";
  }
  if (!mismatch.empty()) return {{}, mismatch};
  return {{}, std::string("liboqs ") + OQS_version() + " was built without " + names};
}

class Liboqs final : public Provider {
 public:
  std::string_view name() const noexcept override { return "liboqs"; }
  std::string title() const override { return std::string("liboqs ") + OQS_version(); }
  Lookup look_up(const KemInfo& kem) const override { return liboqs_lookup(kem); }
  Lookup look_up(const SigInfo& sig) const override { return liboqs_lookup(sig); }
  std::unique_ptr<KemOps> open(const KemInfo& kem, const std::string& name) const override {
    auto opened = made(kem, name.c_str());
    return opened ? std::make_unique<LiboqsKem>(std::move(opened)) : nullptr;
  }
  std::unique_ptr<SigOps> open(const SigInfo& sig, const std::string& name) const override {
    auto opened = made(sig, name.c_str());
    return opened ? std::make_unique<LiboqsSig>(std::move(opened)) : nullptr;
  }
};

}  // namespace

const Provider& liboqs_provider() {
  static const Liboqs liboqs;
  return liboqs;
}

}  // namespace pqcmav
