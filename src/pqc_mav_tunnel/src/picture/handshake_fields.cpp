// SPDX-License-Identifier: Apache-2.0
#include "picture/fields.hpp"

namespace pqcmav {
namespace {

double ms_of(std::uint64_t ns) { return static_cast<double>(ns) / 1e6; }

using E = HandshakeEvent;
constexpr std::array kHandshake{
    row<&E::ok>("true: completed, keys are installed"),
    figure<E, [](const E& e) { return to_string(e.error); }>(
        "error", "identifier of the failure, e.g. \"timeout\"; \"\" when ok"),
    row<&E::reason>("the failure as one sentence; \"\" when ok"),
    row<&E::suite>("suite asked for, e.g. \"cs-mlkem768-aesgcm-mldsa65\""),
    row<&E::hybrid>("true: X25519 combined with the post-quantum key exchange"),
    row<&E::epoch>("epoch of the keys it made (0-255)"),
    figure<E, [](const E& e) { return e.kind != HandshakeKind::first; }>("rekey", "true: it renewed a running session"),
    figure<E, [](const E& e) { return to_string(e.kind); }>(
        "kind", "\"first\", \"rekey\", \"ratchet\", or \"ratchet_plain\" (without fresh shares)"),
    figure<E, [](const E& e) { return e.drone_side ? "drone" : "gcs"; }>("role",
                                                                         "which end this is: \"drone\" or \"gcs\""),
    row<&E::peer>("address of the other end, \"host:port\""),
    figure<E, [](const E& e) { return ms_of(e.duration_ns); }>("handshake_ms",
                                                               "from the first to the last byte at this end [ms]"),
};

using T = HandshakeTimes;
template <std::size_t Phase>
constexpr auto phase(std::string_view name, std::string_view door, std::string_view text) {
  return figure<T, [](const T& times) { return ms_of(times.phases[Phase]); }>(name, text).at_door(door);
}
template <auto Member>
constexpr auto primitive(std::string_view name, std::string_view door, std::string_view text) {
  return figure<T, [](const T& times) { return ms_of(times.*Member); }>(name, text).at_door(door);
}
template <auto Member>
constexpr auto size(std::string_view name, std::string_view door, std::string_view text) {
  return row<Member>(text, name).typed("uint32").at_door(door);
}
constexpr std::array kTimes{
    phase<0>("phase_hello_ms", "phases_ms.hello", "client hello: made by the drone, its gate checked by the gcs [ms]"),
    phase<1>("phase_server_hello_ms", "phases_ms.server_hello",
             "server hello: key pair, signature, transfer, verification [ms]"),
    phase<2>("", "phases_ms.finish", "").only(kInDoor),
    phase<3>("", "phases_ms.server_finish", "").only(kInDoor),
    figure<T, [](const T& times) { return ms_of(times.phases[2] + times.phases[3]); }>(
        "phase_finish_ms", "client finish and server finish [ms]")
        .only(kNotInDoor),
    primitive<&T::kem_keygen>("kem_keygen_ms", "primitives_ms.kem_keygen",
                              "KEM key generation; 0 when the pair came from the pool [ms]"),
    primitive<&T::kem_encaps>("kem_encaps_ms", "primitives_ms.kem_encaps", "KEM encapsulation [ms]"),
    primitive<&T::kem_decaps>("kem_decaps_ms", "primitives_ms.kem_decaps", "KEM decapsulation [ms]"),
    primitive<&T::sig_sign>("sig_sign_ms", "primitives_ms.sig_sign", "signing [ms]"),
    primitive<&T::sig_verify>("sig_verify_ms", "primitives_ms.sig_verify", "signature verification [ms]"),
    primitive<&T::x25519>("x25519_ms", "primitives_ms.x25519", "X25519 key generation and agreement [ms]"),
    primitive<&T::kdf>("kdf_ms", "primitives_ms.kdf", "key schedule: HKDF and transcript hashes [ms]"),
    size<&T::public_key>("public_key_bytes", "sizes.public_key", "KEM public key [B]"),
    size<&T::ciphertext>("ciphertext_bytes", "sizes.ciphertext", "KEM ciphertext [B]"),
    size<&T::signature>("signature_bytes", "sizes.signature", "signature of the gcs [B]"),
    size<&T::drone_signature>("drone_signature_bytes", "sizes.drone_signature",
                              "signature of the drone; 0 without one [B]"),
    size<&T::bytes_sent>("bytes_sent", "sizes.bytes_sent",
                         "handshake messages sent by this end, without the datagrams' headers [B]"),
    size<&T::bytes_received>("bytes_received", "sizes.bytes_received",
                             "handshake messages received by this end, likewise [B]"),
    row<&T::keygen_pooled>("true: the KEM key pair was generated ahead of time"),
};

constexpr std::array kEvent{row<&Event::drone_id>("the drone it was for")};

template <auto Algorithm, auto Member>
constexpr auto of(std::string_view name, std::string_view text) {
  return figure<Suite, [](const Suite& suite) { return suite.*Algorithm->*Member; }>(name, text);
}
template <auto Member>
constexpr auto has(std::string_view name, std::string_view text) {
  return figure<Suite, [](const Suite& suite) { return availability(suite).*Member; }>(name, text);
}
constexpr auto kKem = &Suite::kem;
constexpr auto kSig = &Suite::sig;
constexpr auto kAead = &Suite::aead;
constexpr std::array kSuite{
    row<&Suite::id>("e.g. \"cs-mlkem768-aesgcm-mldsa65\""),
    row<&Suite::short_code>("alias used in reports, e.g. \"ML-768-AG-MD-65\""),
    of<kKem, &KemInfo::display>("kem", "KEM, e.g. \"ML-KEM-768\""),
    of<kSig, &SigInfo::display>("sig", "signature, e.g. \"ML-DSA-65\""),
    of<kAead, &AeadInfo::display>("aead", "AEAD cipher, e.g. \"AES-256-GCM\""),
    row<&Suite::level>("NIST security level of the KEM and the signature: 1, 3 or 5"),
    row<&Suite::core>("true: one of the 72 core suites; false: an additional one"),
    has<&Availability::available>("available", "true: the crypto libraries of this machine have all three algorithms"),
    has<&Availability::reason>("reason", "why it is not available; \"\" when it is"),
    row<&Suite::published>("true: one of the 132 suites of 2025; false: a part is of a later edition").only(kNotInDoor),
    row<&Suite::campaign_2025>("true: one of the 30 suites measured in October 2025").only(kNotInDoor),
    of<kKem, &KemInfo::family>("kem_family", "e.g. \"ML-KEM\", \"HQC\", \"Classic McEliece\", \"FrodoKEM\"")
        .only(kNotInDoor),
    of<kSig, &SigInfo::family>("sig_family", "e.g. \"ML-DSA\", \"Falcon\", \"SPHINCS+\"").only(kNotInDoor),
    of<kKem, &KemInfo::public_key>("public_key_bytes", "KEM public key, sent by the gcs [B]")
        .typed("uint32")
        .only(kNotInDoor),
    of<kKem, &KemInfo::ciphertext>("ciphertext_bytes", "KEM ciphertext, sent by the drone [B]")
        .typed("uint32")
        .only(kNotInDoor),
    of<kSig, &SigInfo::signature_max>("signature_bytes", "longest signature [B]").typed("uint32").only(kNotInDoor),
    figure<Suite, [](const Suite& suite) { return suite.standard(); }>(
        "standard", "true: published standards specify all three algorithms")
        .only(kInPicture),
    of<kKem, &KemInfo::token>("kem_token", "as the suite's id has the KEM").only(kInPicture),
    of<kSig, &SigInfo::token>("sig_token", "as the suite's id has the signature").only(kInPicture),
    of<kAead, &AeadInfo::token>("aead_token", "as the suite's id has the cipher").only(kInPicture),
    of<kKem, &KemInfo::name>("kem_name", "as the wire has the KEM").only(kInPicture),
    of<kSig, &SigInfo::name>("sig_name", "as the wire has the signature").only(kInPicture),
    has<&Availability::kem_by>("kem_by", "the library that computes the KEM here; \"\" for none").only(kNotInDoor),
    has<&Availability::sig_by>("sig_by", "the library that computes the signature here; \"\" for none")
        .only(kNotInDoor),
};

}  // namespace

std::span<const Row<HandshakeEvent>> handshake_rows() noexcept { return kHandshake; }
std::span<const Row<HandshakeTimes>> times_rows() noexcept { return kTimes; }
std::span<const Row<Event>> event_rows() noexcept { return kEvent; }
std::span<const Row<Suite>> suite_rows() noexcept { return kSuite; }

}  // namespace pqcmav
