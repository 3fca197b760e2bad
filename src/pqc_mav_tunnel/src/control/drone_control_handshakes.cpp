// SPDX-License-Identifier: Apache-2.0
// What the drone's control thread does to run a handshake or a ratchet and to put its keys in place.
#include <sys/socket.h>

#include "control/drone_control.hpp"
#include "control/features.hpp"
#include "control/path_address.hpp"
#include "crypto/wipe_stack.hpp"
#include "net/lookup.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

constexpr int kLookupMs = 500;
constexpr std::uint64_t kSayNothingHeardNs = 2'000'000'000, kLearnAgainNs = 5'000'000'000;
constexpr std::uint64_t kSayNoPathNs = 5'000'000'000;  // each was tried by then

std::string unanswered(const PeerEntry& peer, const std::vector<PathEntry>& paths) {
  if (peer.radio)
    return "No answer yet from the gcs by the radio at " + peer.radio->path +
           "; the drone keeps asking. Check that both radios are paired, their baud rates and ':mavlink', and that "
           "both ends have the same PSK.";
  std::string by;
  if (paths.size() > 1)
    for (const auto& each : paths) by += (by.empty() ? " by " : ", ") + each.name;
  return "No answer yet from the gcs at " + peer.host + ":" + std::to_string(peer.port) + (by.empty() ? " (UDP)" : by) +
         "; the drone keeps asking. Check 'peer', the network and firewalls, and that both ends have the same PSK: a "
         "gcs "
         "does not answer strangers.";
}

}  // namespace

/// The gcs' addresses that the encrypted socket, or that of this path, can reach; none, with the reason in the outcome.
std::vector<SockAddr> DroneControl::addresses(Station& station, std::size_t path, ClientOutcome& outcome) const {
  if (const auto wire = data_->wire_address(path)) return {*wire};
  auto host = station.peer.host;
  auto port = station.peer.port;
  if (!config_.paths.empty() && !config_.paths[path].host.empty()) {
    host = config_.paths[path].host;
    port = config_.paths[path].port;
  }
  std::vector<SockAddr> found;
  try {
    // A slow name service must not keep the drone from another station or path.
    const bool others = stations_.size() > 1 || config_.paths.size() > 1;
    auto all = lookup(host, port, SOCK_DGRAM, cancel_.get(), others ? kLookupMs : -1);
    if (!all) all = station.known[path];
    if (all->empty()) {
      const std::lock_guard lock(mutex_);
      // Of several stations the next one is tried without a word.
      const bool slow = stations_.size() == 1 && !stopping_;
      outcome.error = slow ? HandshakeError::unreachable : HandshakeError::cancelled;
      outcome.reason = slow ? "The name service does not answer about '" + host + "'; check it, or give an address."
                            : "The handshake was cancelled.";
      return {};
    }
    station.known[path] = *all;
    found = std::move(*all);
  } catch (const TunnelError& error) {
    outcome.error = HandshakeError::unreachable;
    outcome.reason = error.what();
    return {};
  }
  for (auto& address : found) address.path = static_cast<std::uint8_t>(path);
  std::erase_if(found, [this](const auto& address) { return !data_->reaches(address); });
  if (found.empty()) {
    outcome.error = HandshakeError::unreachable;
    outcome.reason = "'" + host +
                     "' has no address that the configured 'bind' can reach: leave 'bind' empty, or give an address of "
                     "the peer's kind (IPv4, IPv6).";
  }
  return found;
}

/// Another path by which a first handshake may be tried.
std::optional<std::size_t> DroneControl::next_path(std::size_t after) const {
  const auto count = config_.paths.size();
  for (std::size_t i = 1; i < count; ++i)
    if (const auto path = (after + i) % count; data_->paths()->usable(path)) return path;
  return std::nullopt;
}

/// Where the gcs is by the paths that the session's handshake did not take.
void DroneControl::learn_paths() {
  next_learn_ns_ = kNeverNs;
  if (config_.paths.size() < 2) return;
  const auto picture = data_->link(0).picture();
  if (picture.peer.empty() || picture.station >= stations_.size()) return;
  const auto& taken = config_.paths[picture.peer.path];
  // Of the addresses of a name one of IPv6, for example, may be out of reach by an interface with IPv4 alone.
  const auto routed = [&](const SockAddr& to) { return data_->reaches(to) && data_->paths()->has_route(to); };
  std::vector<SockAddr> out;
  for (std::size_t i = 0; i < config_.paths.size(); ++i) {
    const auto& path = config_.paths[i];
    if (i == picture.peer.path || path.radio) continue;
    std::optional<SockAddr> answered;
    if (!taken.radio && path.host == taken.host && path.port == taken.port) {
      answered = picture.peer;
      answered->path = static_cast<std::uint8_t>(i);
      if (!data_->reaches(*answered)) answered.reset();
    }
    ClientOutcome unused;
    const auto chosen =
        path_address(answered, [&] { return addresses(stations_[picture.station], i, unused); }, routed);
    if (!chosen || !chosen->sure) next_learn_ns_ = now_ns() + kLearnAgainNs;
    if (chosen) out.push_back(chosen->to);
  }
  data_->know_paths(std::move(out));
}

/// Asked while an attempt runs: a sentence ends it.
std::optional<std::string> DroneControl::reason_to_give_up(const std::optional<StationChoice::Step>& first,
                                                           std::uint64_t began_ns) {
  const auto now = now_ns();
  take_news(now);
  if (life_ != data_->set_backs()) return "This machine was set back to a snapshot, or copied.";
  if (other_keys_) return "This drone has other keys now.";
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return "The proxy is shutting down.";
    if (first && first->act == StationChoice::Act::join && !requests_.empty()) return "A request comes first.";
  }
  if (!first) {
    if (choice_.in_trouble(now)) return "The gcs fell silent or was restarted; a first handshake comes instead.";
    // A captured station must not keep the drone by a rekey that goes on and on.
    const auto act = choice_.next(now).act;
    const bool leaves = act == StationChoice::Act::connect || act == StationChoice::Act::take_over;
    if (leaves && now > began_ns + to_ns(kHandshakeLimit)) return "The drone goes to another ground station.";
    return std::nullopt;
  }
  if (!client_->silent()) choice_.answered();
  // What answers first wins: the running session, or the handshake that would replace it.
  if (choice_.next(now) != *first)
    return choice_.in_trouble(now) ? "Another ground station is tried." : "The running session is heard again.";
  if (!client_->silent()) return std::nullopt;
  const bool several = config_.paths.size() > 1;
  if (first->act == StationChoice::Act::connect && !told_silence_ &&
      now - asking_since_ns_ > (several ? kSayNoPathNs : kSayNothingHeardNs)) {
    told_silence_ = true;
    ledger_.waiting_for(unanswered(stations_[first->station].peer, config_.paths));
  }
  if (several) {
    const auto patience = to_ns(config_.paths[path_].radio ? kRadioPathAttempt : kPathAttempt);
    by_next_path_ = now - began_ns > patience && next_path(path_).has_value();
    if (by_next_path_) return "The next path is tried.";
  }
  return std::nullopt;
}

bool DroneControl::handshake(const Suite& suite, const std::optional<StationChoice::Step>& first,
                             ClientOutcome& outcome) {
  const bool rekey = !first, joins = first && first->act == StationChoice::Act::join;
  const auto station = first ? first->station : data_->link(0).picture().station;
  ledger_.running(+1, rekey);
  ledger_.refresh([this] { return data_->link(0).picture(); });
  life_ = data_->set_backs();
  other_keys_ = false;
  std::uint8_t epoch = 0;
  try {
    auto params = parameters(suite, station);
    params.features = features_of(config_);
    if (config_.has_radio()) params.max_datagram = kDatagramSmall;
    if (config_.compact) params.own_index = indices_->take();
    if (!params.own_index.value()) params.features &= static_cast<std::uint16_t>(~features::kCompact);
    std::vector<SockAddr> targets;
    if (rekey) {
      if (auto running = data_->running_session(0)) {
        epoch = static_cast<std::uint8_t>(running->epoch + 1);
        params.prev_session = running->id;
        params.epoch = epoch;
        params.chain_prev = std::move(running->chain);
      } else {
        outcome.error = HandshakeError::cancelled;
        outcome.reason = "There is no running session any more.";
      }
    } else {
      params.ticket = client_->ticket(station);
      targets = addresses(stations_[station], path_, outcome);
      if (stations_.size() > 1) {
        params.standby = joins;
        params.term = hello_term_ = choice_.term_of(*first);
        keep_term(params.term);
      }
    }
    if (outcome.error == HandshakeError::none)
      outcome = client_->run(std::move(params), std::move(targets),
                             [&, began = now_ns()] { return reason_to_give_up(first, began); });
  } catch (const TunnelError& error) {
    outcome.error = HandshakeError::crypto;
    outcome.reason = error.what();
  }
  return conclude(suite, rekey ? HandshakeKind::rekey : HandshakeKind::first, first, epoch, outcome);
}

/// Fresh keys for the session that runs, with fresh shares or without.
bool DroneControl::ratchet(const Suite& suite, HandshakeKind kind, ClientOutcome& outcome) {
  life_ = data_->set_backs();
  other_keys_ = false;
  ledger_.running(+1, true);
  ledger_.refresh([this] { return data_->link(0).picture(); });
  std::uint8_t epoch = 0;
  if (auto running = data_->running_session(0)) {
    epoch = static_cast<std::uint8_t>(running->epoch + 1);
    RatchetParams params;
    params.session = std::move(*running);
    {
      const std::lock_guard lock(keys_mutex_);
      params.psk = stations_[data_->link(0).picture().station].psk.clone();
    }
    params.fresh = kind == HandshakeKind::ratchet;
    params.key_old = data_->link(0).picture().key_old;
    if ((params.session.features & features::kCompact) != 0) params.own_index = indices_->take();
    outcome =
        client_->run(std::move(params), [this, began = now_ns()] { return reason_to_give_up(std::nullopt, began); });
  } else {
    outcome.error = HandshakeError::cancelled;
    outcome.reason = "There is no running session any more.";
  }
  return conclude(suite, kind, std::nullopt, epoch, outcome);
}

/// Puts the keys of what succeeded in place, and reports it.
bool DroneControl::conclude(const Suite& suite, HandshakeKind kind, const std::optional<StationChoice::Step>& first,
                            std::uint8_t epoch, ClientOutcome& outcome) {
  const bool full = kind < HandshakeKind::ratchet, joins = first && first->act == StationChoice::Act::join;
  bool ok = outcome.error == HandshakeError::none;
  if (ok) {
    std::optional<StationPart> part;
    if (first)
      part = StationPart{first->station,
                         stations_.size() == 1 ? StationRole::none
                         : joins               ? StationRole::standby
                                               : StationRole::active,
                         choice_.term_of(*first)};
    const auto put = data_->install(joins ? 1 : 0, std::move(outcome.keys), outcome.gcs, part, life_);
    ok = put == Installed::yes;
    if (!ok) outcome.error = HandshakeError::cancelled;
    if (put == Installed::id_taken) {
      outcome.error = HandshakeError::malformed;
      outcome.reason =
          "The ground station gave its session the id of another one that this drone has, whose packets would then go "
          "astray: somebody may control that ground station.";
    }
  }
  wipe_stack();
  const bool told = outcome.error == HandshakeError::rejected && !outcome.avoided.empty();
  {
    const std::lock_guard lock(mutex_);
    if (ok) blacklist_.remove(suite);
    // What is heard outside a session takes no more than the PSK to say: it served to connect, and counts no longer.
    if (ok && kind == HandshakeKind::first) blacklist_.avoid({}, 0);
    if (told)
      blacklist_.avoid(outcome.avoided, now_ns());
    else if (full && Blacklist::blames_suite(outcome.error, outcome.reject_code))
      blacklist_.add(suite, now_ns());
  }
  if (told && successor(suite, first ? first->station : data_->link(0).picture().station) == nullptr)
    outcome.reason +=
        " This drone has no other one of its level: that takes the algorithms ('pqcmav suites') and the "
        "ground station's public key for the signature.";
  ledger_.running(-1, kind != HandshakeKind::first);
  HandshakeEvent event;
  event.ok = ok;
  event.error = outcome.error;
  event.reason = outcome.reason;
  event.suite = suite.id;
  event.hybrid = config_.hybrid;
  event.kind = kind;
  event.drone_side = true;
  event.epoch = epoch;
  event.peer = data_->text_of(outcome.gcs.empty() ? data_->link(0).picture().peer : outcome.gcs);
  event.duration_ns = outcome.duration_ns;
  event.times = outcome.times;
  // Among several stations, one that gave way to another is told of in other words; of a path its state tells.
  const bool gave_way = first && (stations_.size() > 1 || by_next_path_) && outcome.error == HandshakeError::cancelled;
  if (!gave_way) ledger_.finished(std::move(event));
  ledger_.refresh([this] { return data_->link(0).picture(); });
  return ok;
}

/// A router, or a balancer, between may hold on to where it sent this port's packets before its network changed, for as
/// long as the drone asks from there. With another port it begins anew.
void DroneControl::mind_the_port(HandshakeError error) {
  const auto now = now_ns();
  const bool unheard = (error == HandshakeError::timeout || error == HandshakeError::cancelled) && client_->silent();
  if (!unheard || !choice_.in_trouble(now)) port_tried_ns_ = now;
  if (now < port_tried_ns_ + to_ns(kPortPatience)) return;
  port_tried_ns_ = now;
  data_->change_port();
  if (!std::exchange(told_port_, true))
    events_.log(LogLevel::info, config_.drone_id,
                "Nobody answers; the drone asks from another UDP port now, for a router between may hold on to what it "
                "did with this one.");
}

void DroneControl::first_handshake(const StationChoice::Step& step) {
  choice_.begin(step, now_ns());
  auto& unheard = stations_[step.station].unheard_by;
  if (const auto peer = data_->link(0).picture().peer; unheard)
    path_ = next_path(*unheard).value_or(*unheard);
  else if (!peer.empty())
    path_ = peer.path;
  ClientOutcome outcome;
  bool ok = false;
  told_silence_ = false;
  asking_since_ns_ = now_ns();
  for (std::size_t unreachable = 0;;) {
    by_next_path_ = false;
    outcome = {};
    ok = handshake(*suite_, step, outcome);
    unreachable = outcome.error == HandshakeError::unreachable ? unreachable + 1 : 0;
    // So long is one attempt by a single way, too.
    const bool over = now_ns() - asking_since_ns_ > to_ns(kNoProgressLimit) || unreachable >= config_.paths.size();
    const auto next = config_.paths.empty() ? std::nullopt : next_path(path_);
    if (ok || over || !next || !(by_next_path_ || unreachable != 0)) break;
    path_ = *next;
  }
  if (ok) {
    const auto before = choice_.active();
    choice_.succeeded(step, now_ns());
    // Meanwhile a gcs may have told a higher one: then the new station believes under an old term.
    if (stations_.size() > 1 && choice_.term() != hello_term_) data_->tell_roles(choice_.term());
    learn_paths();
    if (step.act == StationChoice::Act::join) return;
    say_change(before);
    backoff_.reset();
    moves_ = 0;
    next_attempt_ns_ = 0;
    schedule_periodic(true);
    return;
  }
  if (client_->silent()) unheard = path_;
  say_unanswered(step, outcome);
  mind_the_port(outcome.error);
  // A suite that was chosen in flight and that the gcs refuses, or that does not work here, must not keep the drone off
  // the air: back to the configured one. Silence and what anybody could have sent say nothing about a suite.
  const bool refused = Blacklist::blames_suite(outcome.error, outcome.reject_code);
  if (const auto* next = refused ? successor(*suite_, step.station) : nullptr) {
    say_moving(*suite_, *next, outcome.reason);
    if (moved_from_ == nullptr) moved_from_ = suite_;
    suite_ = next;
    // A thief of the PSK can say it again and again.
    choice_.failed(++moves_ > kMovesMost ? backoff_.next_ns() : 0, now_ns());
    return;
  }
  if (suite_ != config_.suite && refused) {
    events_.log(LogLevel::warning, config_.drone_id,
                "Handshakes with " + suite_->short_code + " do not work; going back to the configured " +
                    config_.suite->short_code + ". " + outcome.reason);
    suite_ = config_.suite;
  }
  choice_.failed(wait_after(outcome.error, backoff_), now_ns());
}

}  // namespace pqcmav
