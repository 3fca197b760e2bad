// SPDX-License-Identifier: Apache-2.0
// The suite registry: one immutable table of algorithms and the suites built from it (docs/protocol.md section 3).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pqcmav {

enum class AeadId : std::uint8_t { aes256gcm, chacha20poly1305, ascon128a, ascon_aead128 };

/// An algorithm as it was when the 132 suites were published, and its successor, are two algorithms. `lasting`: never
/// succeeded. No suite has both a superseded and a later one.
enum class Edition : std::uint8_t { lasting, superseded, later };
std::string_view to_string(Edition edition) noexcept;

/// Which library computes KEMs and signatures: the first that has the algorithm, or one alone.
enum class ProviderChoice : std::uint8_t { automatic, openssl, liboqs };
std::string_view to_string(ProviderChoice choice) noexcept;  // as the configuration has it: auto, openssl, liboqs
std::optional<ProviderChoice> provider_choice_of(std::string_view text) noexcept;

/// `name` is what the wire and OpenSSL call it (docs/protocol.md section 1).
struct KemInfo {
  std::string_view token, display, name, family, short_code;
  std::uint8_t family_id, param_id, level;
  bool core;
  Edition edition;
  std::string_view standard;                                      // that specifies it; "" = none published so far
  std::array<std::string_view, 2> oqs_names;                      // liboqs' names, newest first; empty = none
  std::size_t public_key, secret_key, ciphertext, shared_secret;  // bytes
};

struct SigInfo {
  std::string_view token, display, name, family, short_code;
  std::uint8_t family_id, param_id, level;
  bool core;
  Edition edition;
  std::string_view standard;
  std::array<std::string_view, 2> oqs_names;
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
  std::string kem_by, sig_by;  // the library that computes it, with its version; empty when none does
  std::string reason;          // one sentence when not available
};

enum class SuiteView { core, extended, campaign_2025, standard, all };

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
const Suite& require_suite(std::string_view id_or_code, ProviderChoice choice);
/// Up to `count` suite ids in whose names all parts of the text are, else such that it may be a misspelling of.
std::vector<std::string> closest_suites(std::string_view text, std::size_t count = 3);
/// In the same order.
std::vector<const Suite*> suites_in(SuiteView view, bool only_available = false);
/// What the libraries this process runs with have of the suite; those that its tunnels chose, or `choice`. Cached.
const Availability& availability(const Suite& suite);
const Availability& availability(const Suite& suite, ProviderChoice choice);

/// The name of the algorithm, or "" when no library that the tunnels of this process chose has it.
std::string_view resolve(const KemInfo& kem);
std::string_view resolve(const SigInfo& sig);

struct AlgorithmCheck {
  std::string token, display, kind, name, by, reason, standard;  // kind: "KEM" or "SIG"; name: what the library says
  Edition edition;
  bool available;
};
/// Every algorithm of the table against the libraries: who computes it under which name, or missing and why.
std::vector<AlgorithmCheck> preflight();
/// The libraries with their versions.
std::string providers_text();
std::string liboqs_version();

}  // namespace pqcmav
