// SPDX-License-Identifier: Apache-2.0
// The one table of algorithms and suites. Everything else (listing, wire ids, availability, key files, documentation)
// is looked up here; nothing is ever read out of a name. Sizes: FIPS 203, FIPS 204, FIPS 205 and the round-3/4
// submissions, as liboqs 0.13 implements them.
#include "crypto/suites_table.hpp"

#include <stdexcept>

namespace pqcmav {
namespace {

constexpr KemInfo kKems[] = {
    // token, display, family, short code, family id, param id, level, core, liboqs names newest first, public key,
    // secret key, ciphertext, shared secret
    {"mlkem512", "ML-KEM-512", "ML-KEM", "ML-512", 1, 1, 1, true, {"ML-KEM-512"}, 800, 1632, 768, 32},
    {"mlkem768", "ML-KEM-768", "ML-KEM", "ML-768", 1, 2, 3, true, {"ML-KEM-768"}, 1184, 2400, 1088, 32},
    {"mlkem1024", "ML-KEM-1024", "ML-KEM", "ML-1024", 1, 3, 5, true, {"ML-KEM-1024"}, 1568, 3168, 1568, 32},
    {"hqc128", "HQC-128", "HQC", "HQC-128", 2, 1, 1, true, {"HQC-1", "HQC-128"}, 2249, 2305, 4433, 64},
    {"hqc192", "HQC-192", "HQC", "HQC-192", 2, 2, 3, true, {"HQC-3", "HQC-192"}, 4522, 4586, 8978, 64},
    {"hqc256", "HQC-256", "HQC", "HQC-256", 2, 3, 5, true, {"HQC-5", "HQC-256"}, 7245, 7317, 14421, 64},
    {"classicmceliece348864",
     "Classic-McEliece-348864",
     "Classic-McEliece",
     "MC-348",
     3,
     1,
     1,
     true,
     {"Classic-McEliece-348864"},
     261120,
     6492,
     96,
     32},
    {"classicmceliece460896",
     "Classic-McEliece-460896",
     "Classic-McEliece",
     "MC-460",
     3,
     2,
     3,
     true,
     {"Classic-McEliece-460896"},
     524160,
     13608,
     156,
     32},
    {"classicmceliece8192128",
     "Classic-McEliece-8192128",
     "Classic-McEliece",
     "MC-8192",
     3,
     3,
     5,
     true,
     {"Classic-McEliece-8192128"},
     1357824,
     14120,
     208,
     32},
    {"frodokem640aes",
     "FrodoKEM-640-AES",
     "FrodoKEM",
     "FR-640A",
     4,
     1,
     1,
     false,
     {"FrodoKEM-640-AES"},
     9616,
     19888,
     9720,
     16},
    {"frodokem976aes",
     "FrodoKEM-976-AES",
     "FrodoKEM",
     "FR-976A",
     4,
     2,
     3,
     false,
     {"FrodoKEM-976-AES"},
     15632,
     31296,
     15744,
     24},
    {"frodokem1344aes",
     "FrodoKEM-1344-AES",
     "FrodoKEM",
     "FR-1344A",
     4,
     3,
     5,
     false,
     {"FrodoKEM-1344-AES"},
     21520,
     43088,
     21632,
     32},
};

constexpr SigInfo kSigs[] = {
    // token, display, family, short code, family id, param id, level, core, liboqs names newest first, public key,
    // secret key, longest signature
    {"mldsa44", "ML-DSA-44", "ML-DSA", "MD-44", 1, 1, 1, true, {"ML-DSA-44"}, 1312, 2560, 2420},
    {"mldsa65", "ML-DSA-65", "ML-DSA", "MD-65", 1, 2, 3, true, {"ML-DSA-65"}, 1952, 4032, 3309},
    {"mldsa87", "ML-DSA-87", "ML-DSA", "MD-87", 1, 3, 5, true, {"ML-DSA-87"}, 2592, 4896, 4627},
    {"falcon512", "Falcon-512", "Falcon", "FA-512", 2, 1, 1, true, {"Falcon-512"}, 897, 1281, 752},
    {"falcon1024", "Falcon-1024", "Falcon", "FA-1024", 2, 2, 5, true, {"Falcon-1024"}, 1793, 2305, 1462},
    {"sphincs128s",
     "SPHINCS+-SHA2-128s",
     "SPHINCS+",
     "SP-128s",
     3,
     1,
     1,
     true,
     {"SLH_DSA_PURE_SHA2_128S", "SPHINCS+-SHA2-128s-simple"},
     32,
     64,
     7856},
    {"sphincs192s",
     "SPHINCS+-SHA2-192s",
     "SPHINCS+",
     "SP-192s",
     3,
     2,
     3,
     true,
     {"SLH_DSA_PURE_SHA2_192S", "SPHINCS+-SHA2-192s-simple"},
     48,
     96,
     16224},
    {"sphincs256s",
     "SPHINCS+-SHA2-256s",
     "SPHINCS+",
     "SP-256s",
     3,
     3,
     5,
     true,
     {"SLH_DSA_PURE_SHA2_256S", "SPHINCS+-SHA2-256s-simple"},
     64,
     128,
     29792},
    {"sphincs128fsha2",
     "SPHINCS+-SHA2-128f",
     "SPHINCS+",
     "SP-128f",
     3,
     4,
     1,
     false,
     {"SLH_DSA_PURE_SHA2_128F", "SPHINCS+-SHA2-128f-simple"},
     32,
     64,
     17088},
    {"sphincs192fsha2",
     "SPHINCS+-SHA2-192f",
     "SPHINCS+",
     "SP-192f",
     3,
     5,
     3,
     false,
     {"SLH_DSA_PURE_SHA2_192F", "SPHINCS+-SHA2-192f-simple"},
     48,
     96,
     35664},
    {"sphincs256fsha2",
     "SPHINCS+-SHA2-256f",
     "SPHINCS+",
     "SP-256f",
     3,
     6,
     5,
     false,
     {"SLH_DSA_PURE_SHA2_256F", "SPHINCS+-SHA2-256f-simple"},
     64,
     128,
     49856},
};

constexpr AeadInfo kAeads[] = {
    {"aesgcm", "AES-256-GCM", "AG", AeadId::aes256gcm, 32, 12, 16},
    {"chacha20poly1305", "ChaCha20-Poly1305", "CP", AeadId::chacha20poly1305, 32, 12, 16},
    {"ascon128a", "Ascon-128a", "AS", AeadId::ascon128a, 16, 16, 16},
};

/// Pairs two tokens at compile time; an unknown token or unequal levels do not compile.
consteval SuitePair pair(std::string_view kem_token, std::string_view sig_token, bool campaign_2025) {
  SuitePair out{nullptr, nullptr, campaign_2025};
  for (const auto& kem : kKems) {
    if (kem.token == kem_token) out.kem = &kem;
  }
  for (const auto& sig : kSigs) {
    if (sig.token == sig_token) out.sig = &sig;
  }
  if (out.kem == nullptr || out.sig == nullptr) throw std::logic_error("unknown token");
  if (out.kem->level != out.sig->level) throw std::logic_error("unequal levels");
  return out;
}

constexpr bool kMeasured = true, kOther = false;
constexpr SuitePair kPairs[] = {
    // level 1
    pair("mlkem512", "mldsa44", kMeasured),
    pair("mlkem512", "falcon512", kMeasured),
    pair("mlkem512", "sphincs128s", kOther),
    pair("mlkem512", "sphincs128fsha2", kMeasured),
    pair("hqc128", "mldsa44", kOther),
    pair("hqc128", "falcon512", kMeasured),
    pair("hqc128", "sphincs128s", kOther),
    pair("hqc128", "sphincs128fsha2", kOther),
    pair("classicmceliece348864", "mldsa44", kOther),
    pair("classicmceliece348864", "falcon512", kOther),
    pair("classicmceliece348864", "sphincs128s", kOther),
    pair("classicmceliece348864", "sphincs128fsha2", kMeasured),
    pair("frodokem640aes", "mldsa44", kMeasured),
    pair("frodokem640aes", "falcon512", kOther),
    pair("frodokem640aes", "sphincs128s", kOther),
    pair("frodokem640aes", "sphincs128fsha2", kOther),
    // level 3: Falcon has no parameter set here
    pair("mlkem768", "mldsa65", kMeasured),
    pair("mlkem768", "sphincs192s", kOther),
    pair("mlkem768", "sphincs192fsha2", kOther),
    pair("hqc192", "mldsa65", kMeasured),
    pair("hqc192", "sphincs192s", kOther),
    pair("hqc192", "sphincs192fsha2", kOther),
    pair("classicmceliece460896", "mldsa65", kMeasured),
    pair("classicmceliece460896", "sphincs192s", kOther),
    pair("classicmceliece460896", "sphincs192fsha2", kOther),
    pair("frodokem976aes", "mldsa65", kMeasured),
    pair("frodokem976aes", "sphincs192s", kOther),
    pair("frodokem976aes", "sphincs192fsha2", kOther),
    // level 5
    pair("mlkem1024", "mldsa87", kMeasured),
    pair("mlkem1024", "falcon1024", kMeasured),
    pair("mlkem1024", "sphincs256s", kOther),
    pair("mlkem1024", "sphincs256fsha2", kMeasured),
    pair("hqc256", "mldsa87", kMeasured),
    pair("hqc256", "falcon1024", kOther),
    pair("hqc256", "sphincs256s", kOther),
    pair("hqc256", "sphincs256fsha2", kOther),
    pair("classicmceliece8192128", "mldsa87", kOther),
    pair("classicmceliece8192128", "falcon1024", kOther),
    pair("classicmceliece8192128", "sphincs256s", kOther),
    pair("classicmceliece8192128", "sphincs256fsha2", kMeasured),
    pair("frodokem1344aes", "mldsa87", kOther),
    pair("frodokem1344aes", "falcon1024", kOther),
    pair("frodokem1344aes", "sphincs256s", kOther),
    pair("frodokem1344aes", "sphincs256fsha2", kOther),
};
static_assert(std::size(kPairs) * std::size(kAeads) == 132);

}  // namespace

std::span<const KemInfo> kems() noexcept { return kKems; }
std::span<const SigInfo> sigs() noexcept { return kSigs; }
std::span<const AeadInfo> aeads() noexcept { return kAeads; }
std::span<const SuitePair> suite_pairs() noexcept { return kPairs; }
bool in_campaign_2025(const AeadInfo& aead) noexcept { return aead.id != AeadId::ascon128a; }

}  // namespace pqcmav
