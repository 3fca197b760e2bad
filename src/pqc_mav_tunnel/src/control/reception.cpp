// SPDX-License-Identifier: Apache-2.0
#include "control/reception.hpp"

#include <algorithm>
#include <utility>

#include "handshake/handshake_messages.hpp"
#include "handshake/key_schedule.hpp"

namespace pqcmav {
namespace {

// So long the first attempt of a source keeps its place, whoever comes: a slow one is not pushed out by the next.
constexpr std::uint64_t kFirstKeptNs = 2'000'000'000;
constexpr auto kFirstMessage = static_cast<std::uint8_t>(MessageType::client_hello);

/// The longest answer to M1, for what it may take; 0 where the suite is unknown.
std::size_t longest_answer(const Suite* suite, bool hybrid) {
  return suite == nullptr ? 0 : longest_server_hello(*suite, hybrid);
}

}  // namespace

TransportOptions gcs_transport_options(const AttemptId& name, std::uint16_t max_datagram,
                                       const std::optional<KnownLink>& session) {
  TransportOptions out;
  out.side = HandshakeSide::gcs;
  out.attempt = name;
  out.in_session = session.has_value();
  out.known = session.value_or(KnownLink{});
  out.first_packet = random_number<std::uint32_t>() >> 1;
  out.wire_ns = out.known.wire_ns;
  const bool small = max_datagram < kDatagramLimit || out.wire_ns != 0;
  out.datagram_limit = small ? kDatagramSmall : kDatagramLimit;
  return out;
}

ByteView body_of_m1(ByteView frame) noexcept {
  const bool good = frame.size() > kFrameHeaderSize &&
                    load_be<std::uint32_t>(frame.data()) == frame.size() - kFrameHeaderSize &&
                    frame[kFrameHeaderSize - 1] == kFirstMessage;
  return good ? frame.subspan(kFrameHeaderSize) : ByteView();
}

bool is_heavy(const Suite& suite, bool hybrid) { return longest_server_hello(suite, hybrid) > kHeavyServerHello; }

Reception::Reception(const AdmissionLimits& limits, const RestartKey& restart, Host host, HandshakeAttempts& attempts)
    : host_(std::move(host)),
      restart_(restart),
      attempts_(attempts),
      admission_(limits),
      limits_(random_number<std::uint64_t>()) {}

Reception::Visit Reception::on_datagram(ByteView datagram, const SockAddr& source, std::uint64_t now,
                                        std::uint64_t next_id) {
  const bool known = attempts_.knows(source) || host_.knows(source);
  if (!limits_.admit(source.ip16(), known, now)) return {.outcome = HandshakeDrop::limit};
  admission_.on_datagram(now);
  const auto header = parse_handshake_header(datagram);
  if (!header || header->from != HandshakeSide::drone) return {};
  // Another drone may have copied the eight bytes of an attempt: the tag tells whose it is.
  const auto own = [&](const HandshakeAttempt& each) { return tag_good(each.keys.from_drone, datagram); };
  if (auto* attempt = attempts_.named(header->attempt, own)) return of_attempt(*attempt, datagram, source, now);
  return of_newcomer(datagram, header->attempt, source, now, next_id);
}

/// From where it is sent to, or was sent first, a datagram is only counted. Any other address is asked to answer: it may
/// be the drone's, overtaken or moved, and what comes from there may be a copy.
Reception::Visit Reception::of_attempt(HandshakeAttempt& attempt, ByteView datagram, const SockAddr& source,
                                       std::uint64_t now) {
  Visit out{.attempt = &attempt};
  const auto place = std::ranges::find(attempt.paths, source);
  if (place != attempt.paths.end()) out.path = static_cast<PathIndex>(place - attempt.paths.begin());
  if (attempt.phase == HandshakeAttempt::Phase::lingering) return out;
  const bool listed = out.path != Transport::kElsewhere;
  if (listed && attempt.transport.has_answered(out.path)) return out;
  const auto frames = parse_frames(frames_of(datagram), FramesOf::drone);
  if (frames && frames->cookie &&
      cookies_.good(*frames->cookie, source.ip16(), source.port(), attempt.name, attempt.m1, now)) {
    if (listed) {
      attempt.transport.answered_by(out.path);
    } else {
      out.path = attempt.transport.join(attempt.paths.size());
      attempts_.set_path(attempt, out.path, source);
    }
  } else if (!listed) {
    const auto cookie = cookies_.make(source.ip16(), source.port(), attempt.name, attempt.m1, now);
    out.retry = encode_retry(attempt.name, cookie, attempt.keys.from_gcs);
  }
  return out;
}

Reception::Visit Reception::of_newcomer(ByteView datagram, const AttemptId& name, const SockAddr& source,
                                        std::uint64_t now, std::uint64_t next_id) {
  const auto frames = parse_frames(frames_of(datagram), FramesOf::drone);
  if (!frames) return {};
  const auto m1 = whole_message_of(*frames, kFirstMessage);
  if (!m1) return {.outcome = HandshakeDrop::unknown};
  const auto hello = parse_client_hello(body_of_m1(*m1));
  if (!hello || hello->prev_session != SessionId{}) return {};

  const std::string drone(hello->drone_id);
  const auto record = host_.env->find_drone(drone);
  const bool ours = hello->gcs_id == host_.env->gcs_id;
  const auto& psk = record && ours ? record->psk : decoy_psk();
  auto keys = derive_fragment_keys(psk, name);
  const auto refuse = [&](HandshakeError error, HandshakeDrop outcome) {
    host_.refused(source.host_text(), drone, error);
    return Visit{.outcome = outcome};
  };
  const bool tag = tag_good(keys.from_drone, datagram), gate = gate_good(psk, *m1);
  const auto link = host_.link_of(drone);
  if (!record || !link) return refuse(HandshakeError::unknown_drone, HandshakeDrop::tag);
  if (!ours) return refuse(HandshakeError::other_gcs, HandshakeDrop::gate);
  if (!tag) return refuse(HandshakeError::bad_gate, HandshakeDrop::tag);
  if (!gate) return refuse(HandshakeError::bad_gate, HandshakeDrop::gate);
  admission_.on_gate(now);
  if (admission_.has_ended(drone, name)) return {.outcome = HandshakeDrop::replay};

  const auto ip = source.ip16();
  AttemptFacts facts{drone, source.network_text(), false, false, false};
  bool at_home = false;
  const auto proof_mac = hello->return_proof.subspan(hello->return_proof.empty() ? 0 : kReturnProofPrefix);
  if (!hello->return_proof.empty() && !admission_.is_copied(drone, proof_mac, name)) {
    const auto mac_at = m1->size() - kHashSize - (kReturnProofSize - kReturnProofPrefix);
    const auto proof = restart_.check(hello->return_proof, drone, ip, m1->first(mac_at), host_.serial());
    facts.proven = proof != RestartKey::Proof::bad;
    at_home = proof == RestartKey::Proof::drone_and_address;
  }
  // Nobody forges an address on a serial line.
  const auto wire_ns = host_.wire_ns(source);
  facts.answered =
      wire_ns != 0 || (frames->cookie && cookies_.good(*frames->cookie, ip, source.port(), name, *m1, now));
  const auto* suite = find_suite(hello->suite);
  facts.heavy = suite != nullptr && is_heavy(*suite, hello->hybrid);
  const bool is_costly = suite != nullptr && costly(*suite, host_.sign_ns(*suite->sig));
  const auto full = host_.too_long(facts.proven || facts.answered ? Standing::known : Standing::stranger);
  auto verdict = full ? Admission::Verdict::busy : admission_.judge(facts, is_costly, attempts_.census(), now);
  auto* instead = verdict == Admission::Verdict::busy && !full ? gives_way_to(facts, *link, now) : nullptr;
  if (instead != nullptr) {
    attempts_.census().remove(instead->facts);
    verdict = admission_.judge(facts, is_costly, attempts_.census(), now);
    attempts_.census().add(instead->facts);
  }
  Visit out{.outcome = HandshakeDrop::limit};
  if (verdict == Admission::Verdict::retry) {
    out.retry = encode_retry(name, cookies_.make(ip, source.port(), name, *m1, now), keys.from_gcs);
    return out;
  }
  if (verdict == Admission::Verdict::busy) {
    out.busy = Busy{std::move(keys), Bytes(m1->begin(), m1->end()),
                    full.value_or(static_cast<std::uint16_t>(kBusyRetry.count()))};
    return out;
  }
  if (facts.proven) admission_.used_proof(drone, proof_mac, name);
  auto options = gcs_transport_options(name, wire_ns != 0 ? kDatagramSmall : hello->max_datagram);
  options.wire_ns = wire_ns;
  auto attempt = std::make_unique<HandshakeAttempt>(next_id, Transport(options, keys.clone()));
  attempt->name = name;
  attempt->m1.assign(m1->begin(), m1->end());
  attempt->keys = std::move(keys);
  attempt->link = *link;
  attempt->paths.push_back(source);
  if (facts.answered)
    attempt->transport.answered_by(0);
  else if (at_home)
    attempt->transport.lift();
  attempt->facts = std::move(facts);
  return {.outcome = HandshakeDrop::taken,
          .newcomer = std::move(attempt),
          .answer = longest_answer(suite, hello->hybrid),
          .instead_of = instead};
}

/// Of those without a proof, one of the source that began most of them in the last minute and finished none, if that is
/// more than the newcomer's did. So a thief of the PSK cannot hold places at addresses that he used before.
HandshakeAttempt* Reception::gives_way_to(const AttemptFacts& newcomer, std::size_t link, std::uint64_t now) const {
  if (!newcomer.answered || newcomer.proven) return nullptr;
  auto most = admission_.unfinished(newcomer.drone, newcomer.source, now);
  HandshakeAttempt* found = nullptr;
  for (auto* each : attempts_.of_link(link)) {
    if (each->session || each->phase != HandshakeAttempt::Phase::waiting || !each->facts.answered || each->facts.proven)
      continue;
    const auto count = admission_.unfinished(each->facts.drone, each->facts.source, now);
    if (count <= most || (count == 1 && now - each->began_ns < kFirstKeptNs)) continue;
    most = count;
    found = each;
  }
  return found;
}

}  // namespace pqcmav
