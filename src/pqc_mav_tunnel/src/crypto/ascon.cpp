// SPDX-License-Identifier: Apache-2.0
// After "Ascon v1.2", C. Dobraunig, M. Eichlseder, F. Mendel, M. Schlaeffer (submission to NIST, 2021), sections 2.4
// to 2.6, and NIST SP 800-232 (August 2025), sections 3 and 4 with appendix A.
#include "crypto/ascon.hpp"

#include <openssl/crypto.h>

#include <bit>

#include "crypto/secret.hpp"

namespace pqcmav {

// Bytes are numbered from the most significant of a word ...
struct AsconV12 {
  static constexpr std::uint64_t kIv = 0x80800c0800000000;  // key size 128, rate 128, 12 and 8 rounds
  static constexpr auto kOrder = std::endian::big;
  static constexpr std::uint64_t kPadding = 0x80, kSeparation = 1;
  static constexpr int shift(std::size_t byte) noexcept { return 56 - 8 * static_cast<int>(byte); }
};

// ... or from the least significant one.
struct AsconSp800232 {
  static constexpr std::uint64_t kIv = 0x00001000808c0001;  // table 13
  static constexpr auto kOrder = std::endian::little;
  static constexpr std::uint64_t kPadding = 0x01, kSeparation = std::uint64_t{1} << 63;
  static constexpr int shift(std::size_t byte) noexcept { return 8 * static_cast<int>(byte); }
};

namespace {

constexpr std::size_t kRate = 16;

template <typename Edition>
inline std::uint64_t load(const std::uint8_t* in) noexcept {
  std::uint64_t word;
  std::memcpy(&word, in, sizeof word);
  return std::endian::native == Edition::kOrder ? word : __builtin_bswap64(word);
}
template <typename Edition>
inline void store(std::uint8_t* out, std::uint64_t word) noexcept {
  if constexpr (std::endian::native != Edition::kOrder) word = __builtin_bswap64(word);
  std::memcpy(out, &word, sizeof word);
}

/// The first `count` (0-7) bytes of a word.
template <typename Edition>
inline std::uint64_t load_part(const std::uint8_t* in, std::size_t count) noexcept {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < count; ++i) word |= std::uint64_t{in[i]} << Edition::shift(i);
  return word;
}
template <typename Edition>
inline void store_part(std::uint8_t* out, std::uint64_t word, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::uint8_t>(word >> Edition::shift(i));
}
/// A one bit behind `count` bytes.
template <typename Edition>
constexpr std::uint64_t pad(std::size_t count) noexcept {
  return Edition::kPadding << Edition::shift(count);
}
/// The first `count` (0-7) bytes.
template <typename Edition>
constexpr std::uint64_t first(std::size_t count) noexcept {
  if (count == 0) return 0;
  const auto all = ~std::uint64_t{0};
  return Edition::kOrder == std::endian::big ? all << (64 - 8 * count) : all >> (64 - 8 * count);
}

struct State {
  std::uint64_t x0, x1, x2, x3, x4;

  [[gnu::always_inline]] void round(std::uint64_t constant) noexcept {
    x2 ^= constant;
    // substitution layer: the 5-bit S-box on all 64 columns at once
    x0 ^= x4;
    x4 ^= x3;
    x2 ^= x1;
    const std::uint64_t t0 = x0 ^ (~x1 & x2), t1 = x1 ^ (~x2 & x3), t2 = x2 ^ (~x3 & x4), t3 = x3 ^ (~x4 & x0),
                        t4 = x4 ^ (~x0 & x1);
    const std::uint64_t s0 = t0 ^ t4, s1 = t1 ^ t0, s2 = ~t2, s3 = t3 ^ t2, s4 = t4;
    // linear diffusion layer
    x0 = s0 ^ std::rotr(s0, 19) ^ std::rotr(s0, 28);
    x1 = s1 ^ std::rotr(s1, 61) ^ std::rotr(s1, 39);
    x2 = s2 ^ std::rotr(s2, 1) ^ std::rotr(s2, 6);
    x3 = s3 ^ std::rotr(s3, 10) ^ std::rotr(s3, 17);
    x4 = s4 ^ std::rotr(s4, 7) ^ std::rotr(s4, 41);
  }

  [[gnu::always_inline]] void permute8() noexcept {
    round(0xb4);
    round(0xa5);
    round(0x96);
    round(0x87);
    round(0x78);
    round(0x69);
    round(0x5a);
    round(0x4b);
  }
  [[gnu::always_inline]] void permute12() noexcept {
    round(0xf0);
    round(0xe1);
    round(0xd2);
    round(0xc3);
    permute8();
  }
};

template <typename Edition>
inline State initialise(const std::uint64_t (&key)[2], const std::uint8_t* nonce) noexcept {
  State s{Edition::kIv, key[0], key[1], load<Edition>(nonce), load<Edition>(nonce + 8)};
  s.permute12();
  s.x3 ^= key[0];
  s.x4 ^= key[1];
  return s;
}

template <typename Edition>
inline void absorb(State& s, ByteView aad) noexcept {
  if (!aad.empty()) {
    const std::uint8_t* in = aad.data();
    std::size_t left = aad.size();
    for (; left >= kRate; in += kRate, left -= kRate) {
      s.x0 ^= load<Edition>(in);
      s.x1 ^= load<Edition>(in + 8);
      s.permute8();
    }
    if (left >= 8) {
      s.x0 ^= load<Edition>(in);
      s.x1 ^= load_part<Edition>(in + 8, left - 8) ^ pad<Edition>(left - 8);
    } else {
      s.x0 ^= load_part<Edition>(in, left) ^ pad<Edition>(left);
    }
    s.permute8();
  }
  s.x4 ^= Edition::kSeparation;  // domain separation
}

template <typename Edition>
inline void finish(State& s, const std::uint64_t (&key)[2], std::uint8_t* tag) noexcept {
  s.x2 ^= key[0];
  s.x3 ^= key[1];
  s.permute12();
  store<Edition>(tag, s.x3 ^ key[0]);
  store<Edition>(tag + 8, s.x4 ^ key[1]);
}

/// The last 0-7 bytes, which go into `word` of the rate. The state takes the ciphertext and the padding bit.
template <typename Edition, bool Encrypt>
inline void last(std::uint64_t& word, std::uint8_t* data, std::size_t count) noexcept {
  const std::uint64_t in = load_part<Edition>(data, count);
  store_part<Edition>(data, word ^ in, count);
  word = Encrypt ? word ^ in : (word & ~first<Edition>(count)) | in;
  word ^= pad<Edition>(count);
}

template <typename Edition, bool Encrypt>
inline void full(std::uint64_t& word, std::uint8_t* data) noexcept {
  const std::uint64_t in = load<Edition>(data);
  store<Edition>(data, word ^ in);
  word = Encrypt ? word ^ in : in;
}

template <typename Edition, bool Encrypt>
inline void crypt(State& s, MutableBytes bytes) noexcept {
  std::uint8_t* data = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= kRate; data += kRate, left -= kRate) {
    full<Edition, Encrypt>(s.x0, data);
    full<Edition, Encrypt>(s.x1, data + 8);
    s.permute8();
  }
  if (left >= 8) {
    full<Edition, Encrypt>(s.x0, data);
    last<Edition, Encrypt>(s.x1, data + 8, left - 8);
  } else {
    last<Edition, Encrypt>(s.x0, data, left);
  }
}

}  // namespace

template <typename Edition>
Ascon<Edition>::Ascon(std::span<const std::uint8_t, 16> key) noexcept
    : key_{load<Edition>(key.data()), load<Edition>(key.data() + 8)} {}

template <typename Edition>
Ascon<Edition>::~Ascon() {
  OPENSSL_cleanse(key_, sizeof key_);
}

template <typename Edition>
void Ascon<Edition>::encrypt(std::span<const std::uint8_t, 16> nonce, ByteView aad, MutableBytes data,
                             std::span<std::uint8_t, 16> tag) const noexcept {
  State s = initialise<Edition>(key_, nonce.data());
  absorb<Edition>(s, aad);
  crypt<Edition, true>(s, data);
  finish<Edition>(s, key_, tag.data());
}

template <typename Edition>
bool Ascon<Edition>::decrypt(std::span<const std::uint8_t, 16> nonce, ByteView aad, MutableBytes data,
                             std::span<const std::uint8_t, 16> tag) const noexcept {
  State s = initialise<Edition>(key_, nonce.data());
  absorb<Edition>(s, aad);
  crypt<Edition, false>(s, data);
  std::uint8_t expected[16];
  finish<Edition>(s, key_, expected);
  const bool genuine = CRYPTO_memcmp(expected, tag.data(), sizeof expected) == 0;
  if (!genuine) wipe(data);
  return genuine;
}

template class Ascon<AsconV12>;
template class Ascon<AsconSp800232>;

}  // namespace pqcmav
