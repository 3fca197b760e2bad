// SPDX-License-Identifier: Apache-2.0
// The power-on self test: what this machine has passes, and every fault of a library is found and named.
#include "crypto/self_test.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine_fixture.hpp"
#include "thread.hpp"

namespace pqcmav::test {
namespace {

enum class Fault { none, keypair, encapsulate, decapsulate, other_secret, same_secret, other_seed };

/// The library of this machine, with one fault.
class FaultyKem final : public KemOps {
 public:
  FaultyKem(const KemInfo& info, Fault fault)
      : found_(find_provider(info, ProviderChoice::automatic)), ops_(found_.provider->open(info, found_.name)) {
    fault_ = fault;
  }
  bool keypair(MutableBytes public_key, MutableBytes secret_key) const override {
    return fault_ != Fault::keypair && ops_->keypair(public_key, secret_key);
  }
  std::optional<bool> keypair_of(ByteView seed, MutableBytes public_key, MutableBytes secret_key) const override {
    const auto made = ops_->keypair_of(seed, public_key, secret_key);
    if (fault_ == Fault::other_seed) public_key[0] ^= 1;
    return made;
  }
  bool encapsulate(ByteView public_key, MutableBytes ciphertext, MutableBytes shared) const override {
    const bool done = ops_->encapsulate(public_key, ciphertext, shared);
    if (fault_ == Fault::other_secret) shared[0] ^= 1;
    std::ranges::copy(shared, last_.begin());
    return fault_ != Fault::encapsulate && done;
  }
  bool decapsulate(ByteView secret_key, ByteView ciphertext, MutableBytes shared) const override {
    if (fault_ == Fault::same_secret && last_ != ByteArray<32>{}) return std::ranges::copy(last_, shared.begin()), true;
    return ops_->decapsulate(secret_key, ciphertext, shared) &&
           (fault_ != Fault::decapsulate || last_ == ByteArray<32>{});
  }

 private:
  Found found_;
  std::unique_ptr<KemOps> ops_;
  Fault fault_ = Fault::none;
  mutable ByteArray<32> last_{};
};

TEST(SelfTest, EveryFaultOfAKemIsFound) {
  const auto& info = *find_kem("mlkem512");
  if (resolve(info).empty()) GTEST_SKIP() << "nobody here has ML-KEM-512";
  const auto step = [&](Fault fault) { return self_test(info, FaultyKem(info, fault)); };
  EXPECT_EQ(step(Fault::none), "");
  EXPECT_EQ(step(Fault::keypair), "key generation");
  EXPECT_EQ(step(Fault::encapsulate), "encapsulation");
  EXPECT_EQ(step(Fault::decapsulate), "decapsulation");
  EXPECT_EQ(step(Fault::other_secret), "the two ends of a key pair get two secrets");
  EXPECT_EQ(step(Fault::same_secret), "a changed ciphertext gives the same secret");
  EXPECT_EQ(step(Fault::other_seed), "the key of a known seed");
}

/// Verifies what it is told to, whatever the signature is.
class FaultySig final : public SigOps {
 public:
  FaultySig(const SigInfo& info, bool signs, bool verifies)
      : found_(find_provider(info, ProviderChoice::automatic)), ops_(found_.provider->open(info, found_.name)) {
    signs_ = signs;
    verifies_ = verifies;
  }
  bool keypair(MutableBytes public_key, MutableBytes secret_key) const override {
    return ops_->keypair(public_key, secret_key);
  }
  bool sign(ByteView secret_key, ByteView message, MutableBytes signature, std::size_t& size) const override {
    return ops_->sign(secret_key, message, signature, size) && signs_;
  }
  bool verify(ByteView, ByteView, ByteView) const noexcept override { return verifies_; }

 private:
  Found found_;
  std::unique_ptr<SigOps> ops_;
  bool signs_ = true, verifies_ = true;
};

TEST(SelfTest, EveryFaultOfASignatureIsFound) {
  const auto& info = *find_sig("mldsa44");
  if (resolve(info).empty()) GTEST_SKIP() << "nobody here has ML-DSA-44";
  EXPECT_EQ(self_test(info, FaultySig(info, false, true)), "signing");
  EXPECT_EQ(self_test(info, FaultySig(info, true, false)), "its own signature does not verify");
  EXPECT_EQ(self_test(info, FaultySig(info, true, true)), "a signature of another message verifies");
}

class FaultyCipher final : public RawAead {
 public:
  FaultyCipher(AeadId id, bool seals, Open opens)
      : inner_(make_raw_aead(id, self_test_key())), seals_(seals), opens_(opens) {}
  bool seal_raw(const std::uint8_t* nonce, ByteView aad, MutableBytes data,
                std::span<std::uint8_t, 16> tag) noexcept override {
    const bool done = inner_->seal_raw(nonce, aad, data, tag);
    if (!seals_) data[0] ^= 1;
    return done;
  }
  Open open_raw(const std::uint8_t* nonce, ByteView aad, MutableBytes data,
                std::span<const std::uint8_t, 16> tag) noexcept override {
    (void)inner_->open_raw(nonce, aad, data, tag);
    return opens_;
  }

 private:
  std::unique_ptr<RawAead> inner_;
  bool seals_;
  Open opens_;
};

TEST(SelfTest, EveryFaultOfAnAeadIsFound) {
  for (const auto& aead : aeads()) {
    SCOPED_TRACE(aead.display);
    const auto step = [&](bool seals, Aead::Open opens) {
      FaultyCipher cipher(aead.id, seals, opens);
      return self_test(aead.id, cipher);
    };
    EXPECT_EQ(self_test(aead.id, *make_raw_aead(aead.id, self_test_key())), "");
    EXPECT_EQ(step(false, Aead::Open::ok), "sealing a known packet");
    EXPECT_EQ(step(true, Aead::Open::bad_tag), "opening a known packet");
    EXPECT_EQ(step(true, Aead::Open::ok), "refusing a bad tag");
  }
}

TEST(SelfTest, AllOfThisMachinePasses) {
  SelfTestScope scope;
  for (const auto& suite : all_suites()) scope.add(suite);
  std::string said;
  {
    const BigThread test([&] { said = self_test(scope, ProviderChoice::automatic); });
  }
  EXPECT_TRUE(said.starts_with("The self test of ")) << said;
  std::cout << said << '\n';
}

TEST(SelfTest, AnEndSaysWhatItTested) {
  const KeyFolders keys;
  const auto gcs = start(with(gcs_values(keys), {{"self_test", true}}));
  const auto drone = start(with(drone_values(keys, "uav1", gcs->ports().data), {{"self_test", true}}));
  for (auto* engine : {gcs.get(), drone.get()}) {
    EventLog log(*engine);
    EXPECT_TRUE(log.wait_for<LogEvent>(
        [](const LogEvent& event) { return event.text.find("passed in") != std::string::npos; }));
  }
}

}  // namespace
}  // namespace pqcmav::test
