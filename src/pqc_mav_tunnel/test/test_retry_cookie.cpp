// SPDX-License-Identifier: Apache-2.0
#include "handshake/retry_cookie.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "crypto/kdf.hpp"
#include "hex.hpp"
#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

using test::hex;

constexpr ByteArray<16> kAddress{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 7};
constexpr std::uint16_t kPort = 46012;
constexpr AttemptId kAttempt{1, 2, 3, 4, 5, 6, 7, 8};
const Bytes kM1{'m', '1', ' ', 'f', 'r', 'a', 'm', 'e'};

Secret<32> counting_key() {
  Secret<32> out;
  std::iota(out.mut().begin(), out.mut().end(), std::uint8_t{0});
  return out;
}
Secret<32> sevens() {
  Secret<32> out;
  std::ranges::fill(out.mut(), std::uint8_t{7});
  return out;
}

// The expected bytes were computed from the design page with another HMAC.
TEST(RetryCookie, TheBytesAreTheDocumentedOnes) {
  const CookieJar jar(counting_key());
  const auto cookie = jar.make(kAddress, kPort, kAttempt, kM1, 1000 * kS + 999'999'999);
  EXPECT_EQ(hex(cookie), "000003e8c1c880711de4adf847a68472a5ae4d2d554b6331138d62ef1f7b3dea");
  const auto retry = encode_retry(kAttempt, cookie, sevens());
  EXPECT_EQ(retry.size(), 57u);
  EXPECT_EQ(hex(retry), "530102030405060708" + hex(cookie) + "7c52f811073d95202d4a9c35d622acfa");
}

TEST(RetryCookie, IsGoodForThirtySecondsAndNotBeforeItWasMade) {
  const CookieJar jar;
  const auto made = 5000 * kS;
  const auto cookie = jar.make(kAddress, kPort, kAttempt, kM1, made);
  const auto good = [&](std::uint64_t now) { return jar.good(cookie, kAddress, kPort, kAttempt, kM1, now); };
  EXPECT_TRUE(good(made));
  EXPECT_TRUE(good(made + 30 * kS));
  EXPECT_FALSE(good(made + 31 * kS));
  EXPECT_FALSE(good(made - 1));
  EXPECT_FALSE(good(0));
}

TEST(RetryCookie, IsGoodForOneAddressPortAttemptAndM1Alone) {
  const CookieJar jar;
  const auto cookie = jar.make(kAddress, kPort, kAttempt, kM1, kS);
  for (std::size_t i = 0; i < kAddress.size(); ++i) {
    auto other = kAddress;
    other[i] ^= 1;
    EXPECT_FALSE(jar.good(cookie, other, kPort, kAttempt, kM1, kS)) << i;
  }
  EXPECT_FALSE(jar.good(cookie, kAddress, kPort + 1, kAttempt, kM1, kS));
  auto attempt = kAttempt;
  attempt[7] ^= 1;
  EXPECT_FALSE(jar.good(cookie, kAddress, kPort, attempt, kM1, kS));
  auto m1 = kM1;
  m1.push_back(0);
  EXPECT_FALSE(jar.good(cookie, kAddress, kPort, kAttempt, m1, kS));
  EXPECT_TRUE(jar.good(cookie, kAddress, kPort, kAttempt, kM1, kS));
}

TEST(RetryCookie, EveryBitCounts) {
  const CookieJar jar;
  const auto cookie = jar.make(kAddress, kPort, kAttempt, kM1, 100 * kS);
  for (std::size_t bit = 0; bit < 8 * cookie.size(); ++bit) {
    auto bent = cookie;
    bent[bit / 8] = static_cast<std::uint8_t>(bent[bit / 8] ^ 1 << bit % 8);
    EXPECT_FALSE(jar.good(bent, kAddress, kPort, kAttempt, kM1, 100 * kS)) << bit;
  }
}

TEST(RetryCookie, AnotherProcessHasAnotherKey) {
  const CookieJar one, two;
  const auto cookie = one.make(kAddress, kPort, kAttempt, kM1, kS);
  EXPECT_FALSE(two.good(cookie, kAddress, kPort, kAttempt, kM1, kS));
}

TEST(Retry, OpensForItsAttemptAndKeyAlone) {
  Cookie cookie;
  random_bytes(cookie);
  const auto retry = encode_retry(kAttempt, cookie, sevens());
  EXPECT_EQ(open_retry(retry, kAttempt, sevens()), cookie);
  EXPECT_FALSE(open_retry(retry, {}, sevens()));
  EXPECT_FALSE(open_retry(retry, kAttempt, counting_key()));
}

TEST(Retry, EveryByteAndTheLengthCount) {
  const auto retry = encode_retry(kAttempt, {9, 9, 9}, sevens());
  for (std::size_t bit = 0; bit < 8 * retry.size(); ++bit) {
    auto bent = retry;
    bent[bit / 8] = static_cast<std::uint8_t>(bent[bit / 8] ^ 1 << bit % 8);
    EXPECT_FALSE(open_retry(bent, kAttempt, sevens())) << bit;
  }
  for (std::size_t size = 0; size < retry.size(); ++size)
    EXPECT_FALSE(open_retry(ByteView(retry).first(size), kAttempt, sevens())) << size;
  auto longer = retry;
  longer.push_back(0);
  EXPECT_FALSE(open_retry(longer, kAttempt, sevens()));
}

}  // namespace
}  // namespace pqcmav
