// SPDX-License-Identifier: Apache-2.0
// The one table of algorithms, and which of them make a suite. Everything else (listing, wire ids, availability, key
// files, documentation) is looked up here; nothing is ever read out of a name. Sizes: FIPS 203, 204, 205, the round-3/4 submissions as
// liboqs 0.13 implements them, and HQC of August 2025 as liboqs 0.16 does.
#include "crypto/suites_table.hpp"

#include <algorithm>
#include <utility>

namespace pqcmav {
namespace {

using enum Edition;

// clang-format off: tables, a line for each row
constexpr KemInfo kKems[] = {
    // token, display, name, family, short code, family id, param id, level, core, edition, standard,
    // liboqs' names newest first, public key, secret key, ciphertext, shared secret
    {"mlkem512", "ML-KEM-512", "ML-KEM-512", "ML-KEM", "ML-512", 1, 1, 1, true, lasting, "FIPS 203", {"ML-KEM-512"}, 800, 1632, 768, 32},
    {"mlkem768", "ML-KEM-768", "ML-KEM-768", "ML-KEM", "ML-768", 1, 2, 3, true, lasting, "FIPS 203", {"ML-KEM-768"}, 1184, 2400, 1088, 32},
    {"mlkem1024", "ML-KEM-1024", "ML-KEM-1024", "ML-KEM", "ML-1024", 1, 3, 5, true, lasting, "FIPS 203", {"ML-KEM-1024"}, 1568, 3168, 1568, 32},
    {"hqc128", "HQC-128", "HQC-128", "HQC", "HQC-128", 2, 1, 1, true, superseded, "", {"HQC-128"}, 2249, 2305, 4433, 64},
    {"hqc192", "HQC-192", "HQC-192", "HQC", "HQC-192", 2, 2, 3, true, superseded, "", {"HQC-192"}, 4522, 4586, 8978, 64},
    {"hqc256", "HQC-256", "HQC-256", "HQC", "HQC-256", 2, 3, 5, true, superseded, "", {"HQC-256"}, 7245, 7317, 14421, 64},
    {"classicmceliece348864", "Classic-McEliece-348864", "Classic-McEliece-348864", "Classic-McEliece", "MC-348", 3, 1, 1, true, lasting, "", {"Classic-McEliece-348864"}, 261120, 6492, 96, 32},
    {"classicmceliece460896", "Classic-McEliece-460896", "Classic-McEliece-460896", "Classic-McEliece", "MC-460", 3, 2, 3, true, lasting, "", {"Classic-McEliece-460896"}, 524160, 13608, 156, 32},
    {"classicmceliece8192128", "Classic-McEliece-8192128", "Classic-McEliece-8192128", "Classic-McEliece", "MC-8192", 3, 3, 5, true, lasting, "", {"Classic-McEliece-8192128"}, 1357824, 14120, 208, 32},
    {"frodokem640aes", "FrodoKEM-640-AES", "FrodoKEM-640-AES", "FrodoKEM", "FR-640A", 4, 1, 1, false, lasting, "", {"eFrodoKEM-640-AES", "FrodoKEM-640-AES"}, 9616, 19888, 9720, 16},
    {"frodokem976aes", "FrodoKEM-976-AES", "FrodoKEM-976-AES", "FrodoKEM", "FR-976A", 4, 2, 3, false, lasting, "", {"eFrodoKEM-976-AES", "FrodoKEM-976-AES"}, 15632, 31296, 15744, 24},
    {"frodokem1344aes", "FrodoKEM-1344-AES", "FrodoKEM-1344-AES", "FrodoKEM", "FR-1344A", 4, 3, 5, false, lasting, "", {"eFrodoKEM-1344-AES", "FrodoKEM-1344-AES"}, 21520, 43088, 21632, 32},
    {"hqc1", "HQC-1", "HQC-1", "HQC", "HQC-1", 5, 1, 1, false, later, "", {"HQC-1"}, 2241, 2321, 4433, 32},
    {"hqc3", "HQC-3", "HQC-3", "HQC", "HQC-3", 5, 2, 3, false, later, "", {"HQC-3"}, 4514, 4602, 8978, 32},
    {"hqc5", "HQC-5", "HQC-5", "HQC", "HQC-5", 5, 3, 5, false, later, "", {"HQC-5"}, 7237, 7333, 14421, 32},
};

constexpr SigInfo kSigs[] = {
    // token, display, name, family, short code, family id, param id, level, core, edition, standard,
    // liboqs' names newest first, public key, secret key, longest signature
    {"mldsa44", "ML-DSA-44", "ML-DSA-44", "ML-DSA", "MD-44", 1, 1, 1, true, lasting, "FIPS 204", {"ML-DSA-44"}, 1312, 2560, 2420},
    {"mldsa65", "ML-DSA-65", "ML-DSA-65", "ML-DSA", "MD-65", 1, 2, 3, true, lasting, "FIPS 204", {"ML-DSA-65"}, 1952, 4032, 3309},
    {"mldsa87", "ML-DSA-87", "ML-DSA-87", "ML-DSA", "MD-87", 1, 3, 5, true, lasting, "FIPS 204", {"ML-DSA-87"}, 2592, 4896, 4627},
    {"falcon512", "Falcon-512", "Falcon-512", "Falcon", "FA-512", 2, 1, 1, true, lasting, "", {"Falcon-512"}, 897, 1281, 752},
    {"falcon1024", "Falcon-1024", "Falcon-1024", "Falcon", "FA-1024", 2, 2, 5, true, lasting, "", {"Falcon-1024"}, 1793, 2305, 1462},
    {"sphincs128s", "SPHINCS+-SHA2-128s", "SPHINCS+-SHA2-128s-simple", "SPHINCS+", "SP-128s", 3, 1, 1, true, superseded, "", {"SPHINCS+-SHA2-128s-simple"}, 32, 64, 7856},
    {"sphincs192s", "SPHINCS+-SHA2-192s", "SPHINCS+-SHA2-192s-simple", "SPHINCS+", "SP-192s", 3, 2, 3, true, superseded, "", {"SPHINCS+-SHA2-192s-simple"}, 48, 96, 16224},
    {"sphincs256s", "SPHINCS+-SHA2-256s", "SPHINCS+-SHA2-256s-simple", "SPHINCS+", "SP-256s", 3, 3, 5, true, superseded, "", {"SPHINCS+-SHA2-256s-simple"}, 64, 128, 29792},
    {"sphincs128fsha2", "SPHINCS+-SHA2-128f", "SPHINCS+-SHA2-128f-simple", "SPHINCS+", "SP-128f", 3, 4, 1, false, superseded, "", {"SPHINCS+-SHA2-128f-simple"}, 32, 64, 17088},
    {"sphincs192fsha2", "SPHINCS+-SHA2-192f", "SPHINCS+-SHA2-192f-simple", "SPHINCS+", "SP-192f", 3, 5, 3, false, superseded, "", {"SPHINCS+-SHA2-192f-simple"}, 48, 96, 35664},
    {"sphincs256fsha2", "SPHINCS+-SHA2-256f", "SPHINCS+-SHA2-256f-simple", "SPHINCS+", "SP-256f", 3, 6, 5, false, superseded, "", {"SPHINCS+-SHA2-256f-simple"}, 64, 128, 49856},
    {"slhdsa128s", "SLH-DSA-SHA2-128s", "SLH-DSA-SHA2-128s", "SLH-DSA", "SL-128s", 4, 1, 1, false, later, "FIPS 205", {"SLH_DSA_PURE_SHA2_128S"}, 32, 64, 7856},
    {"slhdsa192s", "SLH-DSA-SHA2-192s", "SLH-DSA-SHA2-192s", "SLH-DSA", "SL-192s", 4, 2, 3, false, later, "FIPS 205", {"SLH_DSA_PURE_SHA2_192S"}, 48, 96, 16224},
    {"slhdsa256s", "SLH-DSA-SHA2-256s", "SLH-DSA-SHA2-256s", "SLH-DSA", "SL-256s", 4, 3, 5, false, later, "FIPS 205", {"SLH_DSA_PURE_SHA2_256S"}, 64, 128, 29792},
    {"slhdsa128f", "SLH-DSA-SHA2-128f", "SLH-DSA-SHA2-128f", "SLH-DSA", "SL-128f", 4, 4, 1, false, later, "FIPS 205", {"SLH_DSA_PURE_SHA2_128F"}, 32, 64, 17088},
    {"slhdsa192f", "SLH-DSA-SHA2-192f", "SLH-DSA-SHA2-192f", "SLH-DSA", "SL-192f", 4, 5, 3, false, later, "FIPS 205", {"SLH_DSA_PURE_SHA2_192F"}, 48, 96, 35664},
    {"slhdsa256f", "SLH-DSA-SHA2-256f", "SLH-DSA-SHA2-256f", "SLH-DSA", "SL-256f", 4, 6, 5, false, later, "FIPS 205", {"SLH_DSA_PURE_SHA2_256F"}, 64, 128, 49856},
};
// clang-format on

constexpr AeadInfo kAeads[] = {
    {"aesgcm", "AES-256-GCM", "AG", "SP 800-38D", lasting, AeadId::aes256gcm, 32, 12, 16},
    {"chacha20poly1305", "ChaCha20-Poly1305", "CP", "RFC 8439", lasting, AeadId::chacha20poly1305, 32, 12, 16},
    {"ascon128a", "Ascon-128a", "AS", "", superseded, AeadId::ascon128a, 16, 16, 16},
    {"asconaead128", "Ascon-AEAD128", "AA", "SP 800-232", later, AeadId::ascon_aead128, 16, 16, 16},
};

/// What the campaign of October 2025 measured, with each AEAD but Ascon's.
constexpr std::pair<std::string_view, std::string_view> kMeasured[] = {
    {"mlkem512", "mldsa44"},
    {"mlkem512", "falcon512"},
    {"mlkem512", "sphincs128fsha2"},
    {"hqc128", "falcon512"},
    {"classicmceliece348864", "sphincs128fsha2"},
    {"frodokem640aes", "mldsa44"},
    {"mlkem768", "mldsa65"},
    {"hqc192", "mldsa65"},
    {"classicmceliece460896", "mldsa65"},
    {"frodokem976aes", "mldsa65"},
    {"mlkem1024", "mldsa87"},
    {"mlkem1024", "falcon1024"},
    {"mlkem1024", "sphincs256fsha2"},
    {"hqc256", "mldsa87"},
    {"classicmceliece8192128", "sphincs256fsha2"},
};

}  // namespace

std::span<const KemInfo> kems() noexcept { return kKems; }
std::span<const SigInfo> sigs() noexcept { return kSigs; }
std::span<const AeadInfo> aeads() noexcept { return kAeads; }

bool make_a_suite(const KemInfo& kem, const SigInfo& sig, const AeadInfo& aead) noexcept {
  const auto has = [&](Edition edition) {
    return kem.edition == edition || sig.edition == edition || aead.edition == edition;
  };
  return kem.level == sig.level && !(has(superseded) && has(later));
}

bool in_campaign_2025(const KemInfo& kem, const SigInfo& sig, const AeadInfo& aead) noexcept {
  return aead.edition == lasting &&
         std::ranges::find(kMeasured, std::pair(kem.token, sig.token)) != std::end(kMeasured);
}

}  // namespace pqcmav
