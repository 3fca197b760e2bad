// SPDX-License-Identifier: Apache-2.0
#include "control/drone_control.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "control/admission.hpp"
#include "control/features.hpp"
#include "crypto/kdf.hpp"
#include "crypto/wipe_stack.hpp"
#include "handshake/restart_key.hpp"
#include "keys/gcs_psk.hpp"
#include "net/lookup.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kPollNs = 100'000'000;
constexpr int kLookupMs = 500;
constexpr std::uint64_t kSayNothingHeardNs = 2'000'000'000;
StationTimers timers_of_choice(const EngineConfig& config) {
  const auto silence = config.peers.size() > 1 ? config.failover_after_s : config.reconnect_after_s;
  return {to_ns(silence), to_ns(config.failback_s), to_ns(kStandbyLost), to_ns(kStandbyRetry),
          to_ns(config.rekey_interval_s > 0 ? config.rekey_interval_s : config.key_limit_s / 2)};
}

constexpr const char* kNoSession = "There is no session to rekey; the drone is connecting.";
constexpr std::size_t kWaitingMost = 4;
constexpr const char* kBusy = "Busy: four rekeys of this drone are waiting already; try again when they are done.";

}  // namespace

std::uint64_t Backoff::next_ns() {
  const auto base = std::min(most_, first_ << std::min(step_, 10u));
  ++step_;
  return base - base / 5 + random_() % (2 * base / 5 + 1);
}

std::uint64_t jittered_ns(double seconds, std::minstd_rand& random) {
  const double share = static_cast<double>(random() - std::minstd_rand::min()) /
                       static_cast<double>(std::minstd_rand::max() - std::minstd_rand::min());
  return to_ns(seconds * (0.9 + 0.2 * share));
}

DroneControl::DroneControl(const EngineConfig& config, EventQueue& events)
    : config_(config),
      events_(events),
      keys_(config.keys, config.drone_id),
      ledger_(config.drone_id, events),
      choice_(config.peers.size(), config.standby, timers_of_choice(config), 0),
      term_file_(config.peers.size() > 1 ? config.state_dir : "", config.drone_id),
      suite_(config.suite),
      backoff_(random_number<std::uint64_t>()),
      rekey_backoff_(random_number<std::uint64_t>(), kRekeyRetryFirst, kRekeyRetryMost),
      random_(random_number<std::uint32_t>()),
      blacklist_(*config.suite, to_ns(config.blacklist_s)),
      cancel_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  const auto psk = keys_.psk();
  std::size_t without_folder = 0;
  for (const auto& peer : config_.peers) {
    stations_.push_back({peer, psk_of_gcs(psk, peer.gcs_id)});
    if (!keys_.has_own_folder(peer.gcs_id) && ++without_folder > 1)
      throw TunnelError(Errc::key_missing, "There is no folder gcs/" + peer.gcs_id + " below " + config_.keys +
                                               ": each of several ground stations has signing keys of its own; make "
                                               "them with 'pqcmav keys init --station' and export this drone again.");
  }
  for (std::size_t i = 0; i < stations_.size(); ++i)
    (void)parameters(*suite_, i);  // the keys of the first handshake must be there and good
}

DroneControl::~DroneControl() { stop(); }

InitiatorParams DroneControl::parameters(const Suite& suite, std::size_t station) const {
  InitiatorParams out;
  out.suite = &suite;
  out.drone_id = config_.drone_id;
  out.gcs_id = stations_[station].peer.gcs_id;
  out.hybrid = config_.hybrid;
  const std::lock_guard lock(keys_mutex_);
  out.psk = stations_[station].psk.clone();
  out.gcs_public_key = keys_.gcs_public(*suite.sig, out.gcs_id);
  if (config_.sign.value_or(true)) {
    out.own_secret = keys_.own_secret(*suite.sig);
    if (!out.own_secret && config_.sign)
      throw TunnelError(Errc::key_missing, "'sign' is on, but " + config_.keys + " has no key pair of this drone for " +
                                               std::string(suite.sig->display) +
                                               "; make one with 'pqcmav keys init --sign' and export it again.");
  }
  return out;
}

KeyChanges DroneControl::reload_keys() {
  const DroneKeys fresh(config_.keys, config_.drone_id);  // has nothing in memory yet
  const auto psk = fresh.psk();
  const auto& sig = *config_.suite->sig;
  KeyChanges out;
  const std::lock_guard lock(keys_mutex_);
  for (auto& station : stations_) {
    auto now = psk_of_gcs(psk, station.peer.gcs_id);
    if (!constant_time_equal(now.view(), station.psk.view()) && out.renewed.empty())
      out.renewed.push_back(config_.drone_id);
    if (fresh.gcs_public(sig, station.peer.gcs_id) != keys_.gcs_public(sig, station.peer.gcs_id) && out.signing.empty())
      out.signing.emplace_back(sig.display);
    station.psk = std::move(now);
  }
  keys_ = fresh;
  return out;
}

void DroneControl::attach(DataPlane& data) {
  data_ = &data;
  client_ = std::make_unique<HandshakeClient>(data, stations_.size(),
                                              [this](const SessionId& session) { on_restarted(session); });
  read_return_files();
  try {
    choice_.know(term_file_.load());
  } catch (const TunnelError& error) {
    events_.log(LogLevel::warning, config_.drone_id, std::string("The stored term is not used: ") + error.what());
  }
  if (!config_.station.empty()) use_station(config_.station);
  data.set_handshakes(client_.get());
}

/// A grant that is of no use costs a Retry, and is replaced by the next one.
void DroneControl::read_return_files() {
  if (config_.state_dir.empty()) return;
  for (std::size_t i = 0; i < stations_.size(); ++i) {
    auto& file = stations_[i].return_file.emplace(config_.state_dir, config_.drone_id, stations_[i].peer.gcs_id);
    try {
      if (auto ticket = file.load(serial_now())) client_->remember(i, std::move(*ticket));
    } catch (const TunnelError& error) {
      events_.log(LogLevel::warning, config_.drone_id,
                  std::string("The stored return grant is not used: ") + error.what());
    }
  }
}

void DroneControl::write_return_files() {
  for (std::size_t i = 0; i < stations_.size(); ++i) {
    if (!stations_[i].return_file) return;
    const auto ticket = client_->new_ticket(i);
    if (!ticket) continue;
    try {
      stations_[i].return_file->store(*ticket);
      told_unwritable_ = false;
    } catch (const TunnelError& error) {
      if (std::exchange(told_unwritable_, true)) return;
      events_.log(LogLevel::warning, config_.drone_id,
                  std::string("The return grant is kept in memory only, check 'state_dir': ") + error.what());
    }
  }
}

void DroneControl::start() {
  thread_ = BigThread([this] {
    name_this_thread("pqc-control");
    lower_this_thread(5);
    run();
  });
}

void DroneControl::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ring(cancel_);
  wake_.notify_all();
  if (client_) client_->nudge();
  thread_.join();
}

void DroneControl::on_restarted(const SessionId& session) {
  {
    const std::lock_guard lock(mutex_);
    restarted_.push_back(session);
    attention_ = true;
  }
  client_->nudge();
  wake_.notify_all();
}

void DroneControl::on_changed() {
  ledger_.refresh([this] { return data_->link(0).picture(); });
  {
    const std::lock_guard lock(mutex_);
    attention_ = true;
  }
  wake_.notify_all();
}

void DroneControl::run() {
  for (;;) {
    step();
    write_return_files();
    const auto now = now_ns();
    const auto due = std::max(choice_.deadline(), now + 1'000'000) - now;
    const auto pause = std::min(kPollNs, due);
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, nanoseconds(pause), [&] { return stopping_ || attention_ || !requests_.empty(); });
    attention_ = false;
    if (!stopping_) continue;
    for (auto& request : requests_)
      if (auto* promise = std::get_if<std::promise<RekeyOutcome>>(&request.answer_to))
        promise->set_value({false, "", 0, 0, "The proxy is shutting down; nothing was changed."});
    requests_.clear();
    return;
  }
}

void DroneControl::step() {
  const auto picture = data_->link(0).picture();
  const auto now = now_ns();
  take_news(now);
  std::optional<Request> request;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    if (!requests_.empty()) {
      request = std::move(requests_.front());
      requests_.pop_front();
    }
    const auto* remote = request ? std::get_if<RemoteRequest>(&request->answer_to) : nullptr;
    serving_remote_ = remote != nullptr ? std::optional(remote->id) : std::nullopt;
  }
  if (request) {
    serve(std::move(*request));
    return;
  }
  if (follow_choice(now) || choice_.in_trouble(now) || !picture.current) return;
  if (next_periodic_ns_ == 0) schedule_periodic();
  const bool due = config_.rekey_interval_s > 0 && now >= next_periodic_ns_;
  const bool worn = picture.key_use >= config_.rekey_packets && now >= next_attempt_ns_;
  const bool old = picture.key_old && now >= next_old_ns_;
  if (!due && !worn && !old) return;
  if (old) next_old_ns_ = now + to_ns(kOldKeyRetry);
  {
    const std::lock_guard lock(mutex_);
    if (!requests_.empty()) return;  // a request comes first
  }
  const auto facts = facts_of(picture);
  const auto outcome = rekey(*picture.current->suite,
                             due    ? "interval"
                             : worn ? "packets"
                                    : "key age",
                             next_rekey(facts));
  if (!outcome.ok) {
    if (rekey_is_late(facts)) ++late_failures_;
    retry_periodic();
  }
  next_attempt_ns_ = outcome.ok ? 0 : now_ns() + backoff_.next_ns();
}

void DroneControl::schedule_periodic() {
  next_periodic_ns_ = now_ns() + jittered_ns(config_.rekey_interval_s, random_) + 1;
  rekey_backoff_.reset();
  late_failures_ = 0;
}

/// After a rekey that failed.
void DroneControl::retry_periodic() {
  next_periodic_ns_ = now_ns() + std::min(rekey_backoff_.next_ns(), jittered_ns(config_.rekey_interval_s, random_)) + 1;
}

RekeyFacts DroneControl::facts_of(const LinkPicture& picture) const {
  const auto& key = *picture.current;
  RekeyFacts out;
  out.large = longest_server_hello(*key.suite, key.hybrid) > kLargeServerHello;
  out.ratchets = bar_of(key.features, key.ratchets, picture.key_old) == RatchetBar::none;
  out.in_a_row = key.ratchets;
  out.interval = to_ns(config_.rekey_interval_s);
  out.since_change = now_ns() - key.installed_ns;
  out.since_full = boot_ns() - key.full_boot_ns;
  out.key_limit = to_ns(config_.key_limit_s);
  out.late_failures = late_failures_;
  return out;
}

/// The gcs' addresses that the encrypted socket can reach; none, with the reason in the outcome.
std::vector<SockAddr> DroneControl::addresses(Station& station, ClientOutcome& outcome) const {
  const auto& peer = station.peer;
  std::vector<SockAddr> found;
  try {
    // A slow name service must not keep the drone from another station.
    auto all = lookup(peer.host, peer.port, SOCK_DGRAM, cancel_.get(), stations_.size() > 1 ? kLookupMs : -1);
    if (!all) all = station.known;
    if (all->empty()) {
      outcome.error = HandshakeError::cancelled;
      outcome.reason = "The handshake was cancelled.";
      return {};
    }
    station.known = *all;
    found = std::move(*all);
  } catch (const TunnelError& error) {
    outcome.error = HandshakeError::unreachable;
    outcome.reason = error.what();
    return {};
  }
  std::erase_if(found, [this](const auto& address) { return !data_->reaches(address); });
  if (found.empty()) {
    outcome.error = HandshakeError::unreachable;
    outcome.reason = "'" + peer.host +
                     "' has no address that the configured 'bind' can reach: leave 'bind' empty, or give an address of "
                     "the peer's kind (IPv4, IPv6).";
  }
  return found;
}

/// Asked while an attempt runs: a sentence ends it.
std::optional<std::string> DroneControl::reason_to_give_up(const std::optional<StationChoice::Step>& first,
                                                           std::uint64_t began_ns) {
  const auto now = now_ns();
  take_news(now);
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return "The proxy is shutting down.";
    if (first && first->act == StationChoice::Act::join && !requests_.empty()) return "A request comes first.";
  }
  if (!first) {
    if (choice_.in_trouble(now)) return "The gcs fell silent or was restarted; a first handshake comes instead.";
    return std::nullopt;
  }
  if (!client_->silent()) choice_.answered();
  // What answers first wins: the running session, or the handshake that would replace it.
  if (choice_.next(now) != *first)
    return choice_.in_trouble(now) ? "Another ground station is tried." : "The running session is heard again.";
  if (first->act == StationChoice::Act::connect && !told_silence_ && client_->silent() &&
      now - began_ns > kSayNothingHeardNs) {
    told_silence_ = true;
    const auto& peer = stations_[first->station].peer;
    ledger_.waiting_for("No answer yet from the gcs at " + peer.host + ":" + std::to_string(peer.port) +
                        " (UDP); the drone keeps asking. Check 'peer', the network and firewalls, and that both ends "
                        "have the same PSK: a gcs does not answer strangers.");
  }
  return std::nullopt;
}

bool DroneControl::handshake(const Suite& suite, const std::optional<StationChoice::Step>& first,
                             ClientOutcome& outcome) {
  const bool rekey = !first, joins = first && first->act == StationChoice::Act::join;
  const auto station = first ? first->station : data_->link(0).picture().station;
  ledger_.running(+1, rekey);
  ledger_.refresh([this] { return data_->link(0).picture(); });
  told_silence_ = false;
  std::uint8_t epoch = 0;
  try {
    auto params = parameters(suite, station);
    params.features = features_of(config_);
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
      targets = addresses(stations_[station], outcome);
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
    outcome = client_->run(std::move(params), [this] { return reason_to_give_up(std::nullopt, 0); });
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
    ok = data_->install(joins ? 1 : 0, std::move(outcome.keys), outcome.gcs, part);
    if (!ok) outcome.error = HandshakeError::cancelled;
  }
  wipe_stack();
  {
    const std::lock_guard lock(mutex_);
    if (ok)
      blacklist_.remove(suite);
    else if (full && Blacklist::blames_suite(outcome.error, outcome.reject_code))
      blacklist_.add(suite, outcome.reason, now_ns());
  }
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
  event.peer = outcome.gcs.empty() ? data_->link(0).picture().peer.text() : outcome.gcs.text();
  event.duration_ns = outcome.duration_ns;
  event.times = outcome.times;
  // Among several stations, one that gave way to another is told of in other words.
  const bool gave_way = first && stations_.size() > 1 && outcome.error == HandshakeError::cancelled;
  if (!gave_way) ledger_.finished(std::move(event));
  ledger_.refresh([this] { return data_->link(0).picture(); });
  return ok;
}

std::vector<BlacklistedSuite> DroneControl::blacklist() {
  const std::lock_guard lock(mutex_);
  const auto now = now_ns();
  std::vector<BlacklistedSuite> out;
  for (const auto& entry : blacklist_.entries(now))
    out.push_back({entry.suite->id, entry.reason, static_cast<double>(entry.expires_ns - now) / 1e9});
  return out;
}

void DroneControl::first_handshake(const StationChoice::Step& step) {
  choice_.begin(step, now_ns());
  ClientOutcome outcome;
  if (handshake(*suite_, step, outcome)) {
    const auto before = choice_.active();
    choice_.succeeded(step, now_ns());
    // Meanwhile a gcs may have told a higher one: then the new station believes under an old term.
    if (stations_.size() > 1 && choice_.term() != hello_term_) data_->tell_roles(choice_.term());
    if (step.act == StationChoice::Act::join) return;
    say_change(before);
    backoff_.reset();
    next_attempt_ns_ = 0;
    schedule_periodic();
    return;
  }
  say_unanswered(step, outcome);
  // A suite that was chosen in flight and that the gcs refuses, or that does not work here, must not keep the drone off
  // the air: back to the configured one. Silence and what anybody could have sent say nothing about a suite.
  const bool refused = Blacklist::blames_suite(outcome.error, outcome.reject_code);
  if (suite_ != config_.suite && refused) {
    events_.log(LogLevel::warning, config_.drone_id,
                "Handshakes with " + suite_->short_code + " do not work; going back to the configured " +
                    config_.suite->short_code + ". " + outcome.reason);
    suite_ = config_.suite;
  }
  // An attempt that heard nothing lasted ten seconds already, and one that gave way has nothing to wait for.
  const bool at_once = outcome.error == HandshakeError::timeout || outcome.error == HandshakeError::cancelled;
  choice_.failed(at_once ? 0 : backoff_.next_ns(), now_ns());
}

RekeyOutcome DroneControl::rekey(const Suite& suite, const std::string& reason, HandshakeKind kind) {
  RekeyOutcome out;
  out.suite = suite.id;
  const auto picture = data_->link(0).picture();
  if (!picture.current) {
    out.message = kNoSession;
    return out;
  }
  out.epoch = static_cast<std::uint8_t>(picture.current->epoch + 1);
  ClientOutcome outcome;
  const bool full = kind < HandshakeKind::ratchet;
  out.ok = full ? handshake(suite, std::nullopt, outcome) : ratchet(suite, kind, outcome);
  out.duration_ms = static_cast<double>(outcome.duration_ns) / 1e6;
  if (out.ok) {
    suite_ = &suite;
    out.message = (full ? "Rekeyed to " : "Ratcheted the keys of ") + suite.short_code + ", epoch " +
                  std::to_string(out.epoch) + (reason.empty() ? "." : " (" + reason + ").");
    schedule_periodic();
  } else {
    out.epoch = picture.current->epoch;
    out.message = (full ? "The rekey to " + suite.short_code : "The ratchet") +
                  " failed and the running session continues: " + outcome.reason;
  }
  return out;
}

bool DroneControl::avoided(const Suite& suite) {
  const std::lock_guard lock(mutex_);
  return blacklist_.contains(suite, now_ns());
}

/// Even a suite that automatic choices avoid is tried on request: the person asking may know that the cause is
/// gone. The answer says that it was avoided.
RekeyOutcome DroneControl::rekey_on_request(const Request& request) {
  try {
    const auto picture = data_->link(0).picture();
    const auto& suite = !request.suite.empty() ? require_suite(request.suite)
                        : picture.current      ? *picture.current->suite
                                               : *suite_;
    if (request.kind == HandshakeKind::ratchet && picture.current && &suite != picture.current->suite)
      return {false, suite.id, 0, 0,
              "The ratchet was refused: it keeps the suite of the session; ask for a rekey to change it."};
    const bool before = avoided(suite);
    auto outcome = rekey(suite, request.reason, request.kind);
    if (before && outcome.ok) outcome.message += " It had failed before and was avoided; it no longer is.";
    if (before && !outcome.ok && avoided(suite))
      outcome.message = "This suite has failed before and is still avoided. " + outcome.message;
    return outcome;
  } catch (const TunnelError& error) {
    return {false, request.suite, 0, 0, std::string("The rekey was refused: ") + error.what()};
  }
}

void DroneControl::serve(Request request) {
  const auto outcome = rekey_on_request(request);
  {
    // Before the answer: on hearing "done" the asker may ask again at once.
    const std::lock_guard lock(mutex_);
    if (serving_remote_) last_remote_ = {*serving_remote_, outcome};
    serving_remote_.reset();
  }
  if (auto* promise = std::get_if<std::promise<RekeyOutcome>>(&request.answer_to))
    promise->set_value(outcome);
  else
    answer_remote(0, std::get<RemoteRequest>(request.answer_to).id, outcome);
}

void DroneControl::answer_remote(std::size_t link, std::uint32_t id, const RekeyOutcome& outcome) {
  Bytes tlvs(512);
  const auto text = std::string_view(outcome.message).substr(0, 255);
  const auto used = append_control(
      tlvs, 0,
      RekeyResult{id, outcome.ok, outcome.epoch, static_cast<std::uint32_t>(outcome.duration_ms * 1000), text});
  tlvs.resize(used.value_or(0));
  if (!tlvs.empty()) data_->send_control(link, std::move(tlvs));
}

void DroneControl::on_rekey_requested(const RekeyRequest& asked) {
  const auto request_id = asked.request_id;
  const std::string suite(asked.suite);
  std::optional<RekeyOutcome> known;
  bool busy = false;
  {
    const std::lock_guard lock(mutex_);
    if (last_remote_ && last_remote_->first == request_id) {
      known = last_remote_->second;
    } else {
      const auto same = [&](const Request& each) {
        const auto* remote = std::get_if<RemoteRequest>(&each.answer_to);
        return remote != nullptr && remote->id == request_id;
      };
      if (std::any_of(requests_.begin(), requests_.end(), same) || serving_remote_ == request_id) return;
      busy = requests_.size() >= kWaitingMost;
      if (!busy)
        requests_.push_back({++request_ids_, suite, std::string(asked.reason),
                             asked.ratchet ? HandshakeKind::ratchet : HandshakeKind::rekey, RemoteRequest{request_id}});
    }
  }
  if (known) return answer_remote(0, request_id, *known);
  if (busy) return answer_remote(0, request_id, {false, suite, 0, 0, kBusy});
  wake_.notify_all();
}

RekeyOutcome DroneControl::request_rekey(const std::string& suite, const std::string& reason,
                                         std::chrono::nanoseconds timeout, bool ratchet) {
  std::promise<RekeyOutcome> promise;
  auto answer = promise.get_future();
  const bool session = data_->link(0).picture().current.has_value();
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    // A first handshake may be under way for long: whoever asks meanwhile should not wait for it.
    if (!session && !stopping_) return {false, suite, 0, 0, kNoSession};
    if (stopping_) return {false, suite, 0, 0, "The proxy is shutting down; nothing was changed."};
    if (requests_.size() >= kWaitingMost) return {false, suite, 0, 0, kBusy};
    id = ++request_ids_;
    requests_.push_back(
        {id, suite, reason, ratchet ? HandshakeKind::ratchet : HandshakeKind::rekey, std::move(promise)});
  }
  wake_.notify_all();
  if (answer.wait_for(timeout) == std::future_status::ready) return answer.get();
  const std::lock_guard lock(mutex_);
  // One whose turn has not come is not done behind the back of who asked.
  if (std::erase_if(requests_, [id](const Request& each) { return each.number == id; }) > 0)
    return {false, suite, 0, 0,
            "Busy: other rekeys of this drone took all the time that this one had; it was given up, and the running "
            "session is untouched."};
  return {false, suite, 0, 0,
          "The rekey did not finish in time; it continues in the background, and the running session is untouched."};
}

}  // namespace pqcmav
