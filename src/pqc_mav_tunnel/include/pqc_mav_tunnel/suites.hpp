// SPDX-License-Identifier: Apache-2.0
// The suite registry: one immutable table of algorithms and the suites built from it (docs/protocol.md section 3).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pqcmav {

enum class AeadId : std::uint8_t { aes256gcm, chacha20poly1305, ascon128a, ascon_aead128 };

/// An algorithm as it was when the 132 suites were published, and its successor, are two algorithms. `lasting`: never
/// succeeded. No suite has both a superseded and a later one.
enum class Edition : std::uint8_t { lasting, superseded, later };

struct KemInfo {
  std::string_view token, display, family, short_code;
  std::uint8_t family_id, param_id, level;
  bool core;
  Edition edition;
  std::string_view standard;                                      // that specifies it; "" = none published so far
  std::array<std::string_view, 3> oqs_names;                      // candidates, newest first; empty = none
  std::size_t public_key, secret_key, ciphertext, shared_secret;  // bytes
};

struct SigInfo {
  std::string_view token, display, family, short_code;
  std::uint8_t family_id, param_id, level;
  bool core;
  Edition edition;
  std::string_view standard;
  std::array<std::string_view, 3> oqs_names;
  std::size_t public_key, secret_key, signature_max;  // bytes
};

struct AeadInfo {
  std::string_view token, display, short_code, standard;
  Edition edition;
  AeadId id;
  std::size_t key, nonce, tag;  // bytes
};

struct Suite {
  std::string id, short_code;
  const KemInfo* kem;
  const SigInfo* sig;
  const AeadInfo* aead;
  std::uint8_t level;  // NIST 1, 3 or 5
  bool published;      // one of the 132 of 2025: no part is of a later edition
  bool core;           // one of the 72 among them
  bool campaign_2025;  // one of the 30 measured in October 2025
  /// Whether a published standard specifies all three algorithms (SECURITY.md, Algorithms).
  [[nodiscard]] bool standard() const noexcept {
    return !kem->standard.empty() && !sig->standard.empty() && !aead->standard.empty();
  }
  [[nodiscard]] std::array<std::uint8_t, 4> wire_ids() const noexcept {
    return {kem->family_id, kem->param_id, sig->family_id, sig->param_id};
  }
};

struct Availability {
  bool available = false;
  std::string kem_name, sig_name;  // the names this liboqs uses; empty when it lacks the algorithm
  std::string reason;              // one sentence when not available
};

enum class SuiteView { core, extended, campaign_2025, standard, all };

struct SuiteFilter {
  SuiteView view = SuiteView::core;
  std::uint8_t max_level = 5;
  std::vector<AeadId> aeads;                            // empty = all
  std::vector<std::string> kem_families, sig_families;  // empty = all; compared without case
  bool only_available = false;
};

inline constexpr std::string_view kDefaultSuite = "cs-mlkem768-aesgcm-mldsa65";

std::span<const KemInfo> kems() noexcept;
std::span<const SigInfo> sigs() noexcept;
std::span<const AeadInfo> aeads() noexcept;
const KemInfo* find_kem(std::string_view token) noexcept;
const SigInfo* find_sig(std::string_view token) noexcept;

/// All suites in a fixed order: level, KEM, signature, AEAD.
std::span<const Suite> all_suites();
/// By suite id or short code, without regard to case; nullptr when unknown.
const Suite* find_suite(std::string_view id_or_code);
/// As find_suite, but throws TunnelError(suite_unknown) naming the closest suites, or (suite_unavailable) with the
/// reason.
const Suite& require_suite(std::string_view id_or_code);
/// Up to `count` suite ids in whose names all parts of the text are, else such that it may be a misspelling of.
std::vector<std::string> closest_suites(std::string_view text, std::size_t count = 3);
std::vector<const Suite*> filter_suites(const SuiteFilter& filter);
/// What the liboqs this process runs with has of the suite. Cached.
const Availability& availability(const Suite& suite);

/// The name of the algorithm in this liboqs, or "" when it has none of the candidates enabled.
std::string_view resolve(const KemInfo& kem);
std::string_view resolve(const SigInfo& sig);

struct AlgorithmCheck {
  std::string token, display, kind, oqs_name, reason;  // kind: "KEM" or "SIG"
  bool available;
};
/// Every algorithm of the table against this liboqs: present under which name, or missing and why.
std::vector<AlgorithmCheck> preflight();
std::string liboqs_version();

}  // namespace pqcmav
