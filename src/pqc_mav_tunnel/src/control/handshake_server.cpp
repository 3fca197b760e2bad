// SPDX-License-Identifier: Apache-2.0
#include "control/handshake_server.hpp"

#include <algorithm>

#include "handshake/handshake_messages.hpp"
#include "handshake/ratchet.hpp"
#include "handshake/ratchet_messages.hpp"
#include "net/data_plane_hold.hpp"

namespace pqcmav {
namespace {

constexpr double kRestartsPerSource = 10, kRestartsInAll = 100;
constexpr auto kHelloType = static_cast<std::uint8_t>(MessageType::client_hello);
constexpr auto kRatchetType = static_cast<std::uint8_t>(MessageType::ratchet_hello);

}  // namespace

HandshakeServer::HandshakeServer(const AdmissionLimits& limits, std::size_t threads, RestartKey restart, Host host,
                                 DataPlane& data)
    : host_(std::move(host)),
      data_(data),
      restart_(std::move(restart)),
      restart_sources_(kRestartsPerSource, kRestartsPerSource),
      restart_all_(kRestartsInAll, kRestartsInAll),
      reception_(limits, restart_,
                 {host_.env, host_.link_of, [this](const SockAddr& source) { return data_.knows_peer(source); },
                  [this](const SockAddr& source) { return data_.wire_ns(source); },
                  [this](const SigInfo& sig) {
                    const auto found = sign_ns_.find(&sig);
                    return found == sign_ns_.end() ? 0 : found->second;
                  },
                  [this](Standing standing) { return too_long(standing); }, serial_now, host_.refused},
                 attempts_),
      workers_(threads) {}

HandshakeServer::~HandshakeServer() { stop(); }

void HandshakeServer::stop() { workers_.stop(); }

HandshakeDrop HandshakeServer::on_datagram(ByteView datagram, const SockAddr& source, std::uint64_t now) {
  auto visit = reception_.on_datagram(datagram, source, now, next_id_);
  if (!visit.retry.empty()) {
    counters_.retried.add();
    data_.send_datagram(visit.retry, source);
  }
  if (visit.attempt != nullptr) {
    const auto outcome = feed(*visit.attempt, datagram, source, visit.path, now);
    wake_for(*visit.attempt);
    return outcome;
  }
  if (visit.busy) {
    counters_.busy.add();
    HandshakeResponder responder(host_.env);
    Transport once(gcs_transport_options(parse_handshake_header(datagram)->attempt, kDatagramLimit),
                   std::move(visit.busy->keys));
    refuse_busy(
        responder, once, datagram, visit.busy->m1, visit.busy->retry_ms,
        [&](ByteView out) { data_.send_datagram(out, source); }, now);
  }
  if (visit.newcomer) {
    ++next_id_;
    counters_.gated.add();
    if (visit.instead_of != nullptr) end(*visit.instead_of, HandshakeError::cancelled, now);
    visit.newcomer->responder = std::make_shared<HandshakeResponder>(host_.env_of(visit.newcomer->link));
    begin(std::move(visit.newcomer), client_hello_limits(), visit.answer, datagram, now);
  }
  return visit.outcome;
}

/// Takes on an attempt with its first datagram, or its first frame in a session: all of M1, or a part of R1.
void HandshakeServer::begin(std::unique_ptr<Attempt> attempt, std::vector<FrameLimits> expecting, std::size_t answer,
                            ByteView first, std::uint64_t now) {
  attempt->begin(answer, now);
  attempt->announced = true;
  host_.progress(attempt->facts.drone, +1);
  auto& taken = attempts_.add(std::move(attempt));
  taken.transport.expect(std::move(expecting));
  (void)taken.transport.on_datagram(first, 0, now);
  note_answered(taken, now);
  if (auto hello = taken.transport.take_message()) compute(taken, std::move(*hello));
  wake_for(taken);
}

/// A Reject keeps nothing: it is made anew for each M1.
void HandshakeServer::refuse_busy(HandshakeResponder& responder, Transport& once, ByteView datagram, ByteView m1,
                                  std::uint16_t retry_ms, const std::function<void(ByteView)>& send,
                                  std::uint64_t now) {
  (void)responder.on_data(m1, now);
  if (!responder.gated()) return;
  once.expect(client_hello_limits());
  (void)once.on_datagram(datagram, 0, now);
  once.start(responder.refuse(Reject::busy, retry_ms).send, now);
  if (const auto out = once.poll(now)) send(out->datagram);
}

HandshakeDrop HandshakeServer::feed(Attempt& attempt, ByteView datagram, const SockAddr& source, PathIndex path,
                                    std::uint64_t now) {
  if (path == Transport::kElsewhere) attempt.elsewhere = source;
  const auto took = attempt.transport.on_datagram(datagram, path, now);
  note_answered(attempt, now);
  if (auto message = attempt.transport.take_message(); message && attempt.phase == Phase::waiting)
    compute(attempt, std::move(*message));
  send_due(attempt, now);
  return took == Transport::Took::taken      ? HandshakeDrop::taken
         : took == Transport::Took::repeated ? HandshakeDrop::repeated
                                             : HandshakeDrop::malformed;
}

void HandshakeServer::on_session_frame(std::size_t link, ByteView value, std::uint64_t now) {
  const auto held = data_.hold(link);
  const auto& session = data_.session(link);
  if (value.size() < kAttemptSize || !session.current() || session.chain() == nullptr) return;
  AttemptId name;
  std::copy_n(value.begin(), kAttemptSize, name.begin());
  auto* running = attempts_.in_session(link, session.current()->id);
  if (running != nullptr && running->name == name) {
    auto& attempt = *running;
    (void)attempt.transport.on_datagram(value, 0, now);
    if (auto message = attempt.transport.take_message(); message && attempt.phase == Phase::waiting)
      compute(attempt, std::move(*message));
    send_due(attempt, now);
    wake_for(attempt);
    return;
  }
  const auto frames = parse_frames(value.subspan(std::min(value.size(), kHandshakePartHeader)), FramesOf::session);
  if (frames && frames->fragment_count > 0 && frames->fragments[0].message == kRatchetType)
    return begin_ratchet(link, name, running, value, now);
  const auto m1 = frames ? whole_message_of(*frames, kHelloType) : std::nullopt;
  if (!m1) return;
  const auto hello = parse_client_hello(body_of_m1(*m1));
  const auto& drone = data_.link(link).id;
  if (!hello || hello->drone_id != drone || reception_.admission().has_ended(drone, name)) return;
  const auto* suite = find_suite(hello->suite);
  auto responder = std::make_shared<HandshakeResponder>(host_.env_of(link), data_.link(link).running());
  Transport transport(gcs_transport_options(name, kDatagramLimit, data_.link(link).known()), FragmentKeys{});
  // Who speaks inside a session is as good as proven; even so it does not get M2 without end.
  AttemptFacts facts{drone, {}, true, true, suite != nullptr && is_heavy(*suite, hello->hybrid)};
  const auto full = too_long(Standing::session);
  if (full || !admit_instead(facts, running, now)) {
    counters_.busy.add();
    const auto send = [&](ByteView out) { data_.send_handshake_part(link, out, now); };
    return refuse_busy(*responder, transport, value, *m1, full.value_or(kBusyRetry.count()), send, now);
  }
  // A session runs one attempt: the drone itself, by the AEAD, began another one.
  if (running != nullptr) end(*running, HandshakeError::cancelled, now);
  counters_.gated.add();
  auto attempt = std::make_unique<Attempt>(next_id_++, std::move(transport));
  attempt->name = name;
  attempt->link = link;
  attempt->session = session.current()->id;
  attempt->kind = HandshakeKind::rekey;
  attempt->facts = std::move(facts);
  attempt->responder = std::move(responder);
  begin(std::move(attempt), client_hello_limits(), suite == nullptr ? 0 : longest_server_hello(*suite, hello->hybrid),
        value, now);
}

/// R1 may come in two parts, so the attempt begins with the first of them: the sender inside a session is known. One
/// that has no place is left without an answer, for its parts come again.
void HandshakeServer::begin_ratchet(std::size_t link, const AttemptId& name, Attempt* replaced, ByteView first,
                                    std::uint64_t now) {
  const auto& drone = data_.link(link).id;
  const auto record = host_.env->find_drone(drone);
  if (!record || reception_.admission().has_ended(drone, name)) return;
  AttemptFacts facts{drone, {}, true, true, false};
  if (too_long(Standing::session) || !admit_instead(facts, replaced, now)) {
    counters_.busy.add();
    return;
  }
  if (replaced != nullptr) end(*replaced, HandshakeError::cancelled, now);
  counters_.gated.add();
  auto attempt = std::make_unique<Attempt>(
      next_id_++, Transport(gcs_transport_options(name, kDatagramLimit, data_.link(link).known()), FragmentKeys{}));
  attempt->name = name;
  attempt->link = link;
  attempt->session = data_.session(link).current()->id;
  attempt->kind = HandshakeKind::ratchet;
  attempt->facts = std::move(facts);
  const auto env = host_.env_of(link);
  attempt->responder = std::make_shared<RatchetResponder>(
      RatchetTerms{*data_.link(link).running(), record->psk.clone(), data_.link(link).key_old, env->receive_index,
                   env->takes_id, env->random, env->avoided ? env->avoided() : Families()});
  auto& taken = *attempt;
  begin(std::move(attempt), ratchet_hello_limits(), 0, first, now);
  send_due(taken, now);
  wake_for(taken);
}

/// Is there room for it, once the one that it replaces is gone?
bool HandshakeServer::admit_instead(const AttemptFacts& facts, const Attempt* replaced, std::uint64_t now) {
  auto& census = attempts_.census();
  const bool counted = replaced != nullptr && replaced->phase != Phase::lingering;
  if (counted) census.remove(replaced->facts);
  const bool admitted = reception_.admission().judge(facts, false, census, now) == Admission::Verdict::begin;
  if (counted) census.add(replaced->facts);
  return admitted;
}

void HandshakeServer::note_answered(Attempt& attempt, std::uint64_t now) {
  if (attempt.session || attempt.facts.answered || !attempt.transport.answered()) return;
  attempts_.set_answered(attempt);
  if (!attempt.facts.proven) reception_.admission().begun(attempt.facts.drone, attempt.facts.source, now);
}

Standing HandshakeServer::standing_of(const Attempt& attempt) noexcept {
  if (attempt.session) return Standing::session;
  return attempt.facts.proven || attempt.facts.answered || attempt.computed ? Standing::known : Standing::stranger;
}

/// Where the queue is longer than a drone waits: after how many ms it may ask again. Whoever waits in the queue is given
/// up by its drone after kNoProgressLimit; to be told so in time is better.
std::optional<std::uint16_t> HandshakeServer::too_long(Standing standing) const {
  const auto wait = workers_.wait_ns(standing);
  if (wait <= to_ns(kQueuePatience)) return std::nullopt;
  const auto ms = (wait - to_ns(kQueuePatience) / 2) / 1'000'000;
  return static_cast<std::uint16_t>(std::min<std::uint64_t>(ms, kBusyRetryMax.count()));
}

/// Hands a message to a worker, and its result back to this thread.
void HandshakeServer::compute(Attempt& attempt, Bytes message) {
  attempt.phase = Phase::with_worker;
  const auto standing = standing_of(attempt);
  const auto& owner = standing == Standing::stranger ? attempt.facts.source : attempt.facts.drone;
  workers_.add(standing, owner, attempt.id,
               [this, id = attempt.id, responder = attempt.responder, bytes = std::move(message)]() mutable {
                 auto step = std::make_shared<HandshakeStep>(responder->take(bytes, now_ns()));
                 responder.reset();
                 data_.post([this, id, step] { on_step(id, std::move(*step), now_ns()); });
               });
}

void HandshakeServer::on_step(std::uint64_t id, HandshakeStep step, std::uint64_t now) {
  auto* found = attempts_.find(id);
  if (found == nullptr) return;  // ended meanwhile
  auto& attempt = *found;
  attempt.phase = Phase::waiting;
  attempt.computed = true;
  if (const auto* suite = attempt.responder->suite(); suite != nullptr && attempt.responder->times().sig_sign > 0)
    sign_ns_[suite->sig] = attempt.responder->times().sig_sign;
  if (step.status == HandshakeStatus::done) {
    complete(attempt, std::move(step), now);
  } else {
    attempts_.offer(attempt, attempt.responder->session_id());
    if (!step.send.empty()) {
      attempt.transport.expect(attempt.responder->expecting());
      attempt.transport.start(std::move(step.send), now);
      send_due(attempt, now);
    }
    if (step.status == HandshakeStatus::failed) return refuse(attempt, now);
  }
  if (auto* still = attempts_.find(id)) wake_for(*still);
}

/// A refusal keeps nothing, except that of a ratchet: a part of R1 that comes again does not make another one.
void HandshakeServer::refuse(Attempt& attempt, std::uint64_t now) {
  const auto error = attempt.responder->error();
  if (attempt.kind != HandshakeKind::ratchet || error != HandshakeError::refused_locally)
    return end(attempt, error, now);
  report(attempt, error, now);
  attempts_.linger(attempt);
  attempt.limit_ns = now + to_ns(kLastAnswerKept);
  wake_for(attempt);
}

/// M3 verified, or R1 was taken: the keys are in place before M4 or R2 says so. R2 goes on being sent until a packet
/// under the new keys says that it came.
void HandshakeServer::complete(Attempt& attempt, HandshakeStep step, std::uint64_t now) {
  const auto held = data_.hold(attempt.link);
  std::vector<SockAddr> answered;
  for (PathIndex path = 0; path < attempt.paths.size(); ++path)
    if (attempt.transport.has_answered(path)) answered.push_back(attempt.paths[path]);
  const auto with = answered.empty() ? SockAddr{} : answered.front();
  data_.install_now(attempt.link, attempt.responder->take_keys(), std::move(answered), now);
  data_.note_round_trip(attempt.link, attempt.transport.full_round_trip(), with);
  attempt.transport.start(step.send, now);
  if (attempt.kind == HandshakeKind::ratchet)
    counters_.ratchets.add();
  else
    attempt.transport.linger(std::move(step.send));
  attempts_.linger(attempt);
  reception_.admission().completed(attempt.facts.drone);
  attempt.limit_ns = now + to_ns(kLastAnswerKept);
  send_due(attempt, now);
  report(attempt, HandshakeError::none, now);
  const auto older = [&](const Attempt& each) { return each.id < attempt.id && each.phase != Phase::lingering; };
  end_of(attempt.link, older, HandshakeError::cancelled, now);
}

void HandshakeServer::send_due(Attempt& attempt, std::uint64_t now) {
  const auto held = attempt.session ? data_.hold(attempt.link) : DataPlane::Hold();
  const auto send = [&] {
    while (auto out = attempt.transport.poll(now)) {
      if (!attempt.session) {
        data_.send_datagram(out->datagram,
                            out->path == Transport::kElsewhere ? attempt.elsewhere : attempt.paths[out->path]);
      } else if (const auto& current = data_.session(attempt.link).current();
                 current && current->id == attempt.session) {
        data_.send_handshake_part(attempt.link, out->datagram, now);
      }
    }
  };
  send();
  if (attempt.session && data_.make_room(attempt.link, attempt.transport.stalls(), now)) {
    attempt.transport.widen();
    send();
  }
}

void HandshakeServer::run(std::uint64_t now) {
  for (const auto id : attempts_.due(now)) {
    auto* attempt = attempts_.find(id);
    if (attempt == nullptr) continue;
    if (attempt->transport.deadline() <= now) send_due(*attempt, now);
    const bool stalled =
        attempt->phase == Phase::waiting && now >= attempt->transport.last_progress() + to_ns(kNoProgressLimit);
    if (attempt->phase != Phase::with_worker && (stalled || now >= attempt->limit_ns))
      end(*attempt, HandshakeError::timeout, now);
    else
      wake_for(*attempt);
  }
}

/// What happens changes one attempt: the others are not looked at, of which there may be as many as drones.
void HandshakeServer::wake_for(Attempt& attempt) {
  auto due = attempt.transport.deadline();
  if (attempt.phase != Phase::with_worker) due = std::min(due, attempt.limit_ns);
  if (attempt.phase == Phase::waiting) due = std::min(due, attempt.transport.last_progress() + to_ns(kNoProgressLimit));
  attempts_.schedule(attempt, due);
}

/// Those of one drone for which `which` holds.
template <typename Which>
void HandshakeServer::end_of(std::size_t link, const Which& which, HandshakeError error, std::uint64_t now) {
  for (auto* each : attempts_.of_link(link))
    if (which(*each)) end(*each, error, now);
}

void HandshakeServer::end(Attempt& attempt, HandshakeError error, std::uint64_t now) {
  if (attempt.session) data_.rekey_over(attempt.link);
  if (attempt.phase == Phase::with_worker) workers_.drop(attempt.id);
  // A refusal keeps nothing: the same M1 is answered again.
  if (error != HandshakeError::refused_locally) reception_.admission().ended(attempt.facts.drone, attempt.name);
  if (attempt.announced) report(attempt, error, now);
  attempts_.remove(attempt);
}

/// Tells the host how an attempt ended, once.
void HandshakeServer::report(Attempt& attempt, HandshakeError error, std::uint64_t now) {
  attempt.announced = false;
  (error == HandshakeError::none ? counters_.completed : counters_.failed).add();
  HandshakeEvent event;
  event.ok = error == HandshakeError::none;
  event.error = error;
  const auto& responder = *attempt.responder;
  // A responder that a worker still holds is left alone.
  if (attempt.phase != Phase::with_worker) {
    event.reason = event.ok                     ? std::string{}
                   : error == responder.error() ? responder.reason()
                                                : describe(error, responder.reject_code(), false);
    if (const auto* suite = responder.suite()) event.suite = suite->id;
    event.times = responder.times();
  } else {
    event.reason = describe(error, 0, false);
  }
  event.kind = attempt.phase == Phase::with_worker ? attempt.kind : responder.kind();
  const auto held = attempt.paths.empty() ? data_.hold(attempt.link) : DataPlane::Hold();
  event.peer = data_.text_of(attempt.paths.empty() ? data_.link(attempt.link).peer : attempt.paths.front());
  event.duration_ns = now - attempt.began_ns;
  host_.progress(attempt.facts.drone, -1);
  host_.finished(attempt.facts.drone, std::move(event));
}

void HandshakeServer::on_session_ended(std::size_t link, std::uint64_t now) {
  end_of(link, [](const Attempt& each) { return each.session.has_value(); }, HandshakeError::cancelled, now);
}

void HandshakeServer::forget(std::size_t link, std::uint64_t now) {
  end_of(link, [](const Attempt&) { return true; }, HandshakeError::cancelled, now);
}

void HandshakeServer::on_removed(std::size_t link, std::uint64_t now) {
  forget(link, now);
  reception_.admission().forget(data_.link(link).id);
}

void HandshakeServer::on_switched(std::size_t link, std::uint64_t now) {
  end_of(link, [](const Attempt& each) { return each.phase == Phase::lingering; }, HandshakeError::none, now);
  on_grant_due(link, now);
}

/// What lets this gcs know the drone again, and the drone a restarted gcs.
void HandshakeServer::on_grant_due(std::size_t link, std::uint64_t now) {
  const auto held = data_.hold(link);
  const auto& session = data_.session(link).current();
  if (!session) return;
  const auto& drone = data_.link(link).id;
  const auto grant = restart_.make_return(drone, data_.link(link).peer.ip16(), serial_now());
  std::vector values = {Announcements::of(ReturnGrant{grant.serial, grant.address_tag, grant.return_key.view()}),
                        Announcements::of(RestartToken{restart_.token(session->id)})};
  if ((session->features & features::kStations) != 0)
    values.push_back(Announcements::of(TermTold{data_.link(link).highest_term}));
  data_.announce(link, std::move(values), now);
}

/// A drone that still uses a session from before a restart learns so at once, by a token that only this gcs can make.
void HandshakeServer::on_unknown_session(const SessionId& session, const SockAddr& source, std::uint64_t now) {
  const auto who = source.network_text();
  if (!restart_sources_.allows(who, now) || !restart_all_.allows({}, now)) return;
  // One that is about to begin is no secret: its id is in M2, for all to see.
  if (attempts_.offers(session)) return;
  restart_sources_.charge(who, now);
  restart_all_.charge({}, now);
  counters_.restarts.add();
  ByteArray<1 + kSessionIdSize + 16> answer;
  answer[0] = kRestartType;
  std::copy(session.begin(), session.end(), answer.begin() + 1);
  const auto token = restart_.token(session);
  std::copy(token.begin(), token.end(), answer.begin() + 1 + kSessionIdSize);
  data_.send_datagram(answer, source);
}

}  // namespace pqcmav
