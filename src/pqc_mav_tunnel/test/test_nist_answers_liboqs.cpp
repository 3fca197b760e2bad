// SPDX-License-Identifier: Apache-2.0
// NIST's known answers by liboqs, whose source of randomness gives what the standards draw.
#include <oqs/oqs.h>

#include <algorithm>

#include "nist_answers.hpp"

namespace pqcmav::test {
namespace {

/// While it lives, liboqs draws these bytes and nothing else.
class Drawn {
 public:
  explicit Drawn(Bytes bytes) {
    left() = std::move(bytes);
    OQS_randombytes_custom_algorithm([](std::uint8_t* out, std::size_t size) {
      auto& from = left();
      const auto here = std::min(size, from.size());
      EXPECT_EQ(here, size) << "more is drawn than the standard says";
      std::copy_n(from.begin(), here, out);
      from.erase(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(here));
    });
  }
  ~Drawn() {
    EXPECT_TRUE(left().empty()) << "less is drawn than the standard says";
    (void)OQS_randombytes_switch_algorithm(OQS_RAND_alg_system);
  }
  Drawn(const Drawn&) = delete;
  Drawn& operator=(const Drawn&) = delete;

 private:
  static Bytes& left() {
    static Bytes bytes;
    return bytes;
  }
};

TEST(NistAnswersLiboqs, KeysOfSeeds) {
  constexpr auto by = ProviderChoice::liboqs;
  int asked = 0;
  const auto ask = [&](const auto& algorithm, const VectorSection& given) {
    const Drawn drawn(given.bytes("seed"));
    expect_pair(algorithm.keypair(), given);
    ++asked;
  };
  each("keygen", [&](const std::string& token, const VectorSection& given) {
    if (const auto* kem = find_kem(token); kem != nullptr && here(*kem, by)) ask(Kem(*kem, by), given);
    if (const auto* sig = find_sig(token); sig != nullptr && here(*sig, by)) ask(Sig(*sig, by), given);
  });
  EXPECT_GE(asked, 12) << "ML-KEM and ML-DSA are in every version";
}

TEST(NistAnswersLiboqs, Encapsulation) {
  constexpr auto by = ProviderChoice::liboqs;
  const auto count = each("encapsulate", [&](const std::string& token, const VectorSection& given) {
    const Kem kem(*find_kem(token), by);
    const Drawn drawn(given.bytes("random"));
    SecretBytes shared;
    EXPECT_EQ(hex(sha256({kem.encapsulate(given.bytes("public_key"), shared)})), given.text("ciphertext_sha256"));
    EXPECT_EQ(hex(shared.view()), given.text("shared"));
  });
  EXPECT_EQ(count, 3);
}

}  // namespace
}  // namespace pqcmav::test
