// SPDX-License-Identifier: Apache-2.0
#include "control/drone_control.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "control/admission.hpp"
#include "control/features.hpp"
#include "crypto/kdf.hpp"
#include "handshake/restart_key.hpp"
#include "keys/gcs_psk.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kPollNs = 100'000'000;

StationTimers timers_of_choice(const EngineConfig& config) {
  const auto silence = config.peers.size() > 1 ? config.failover_after_s : config.reconnect_after_s;
  return {to_ns(silence), to_ns(config.failback_s), to_ns(kStandbyLost), to_ns(kStandbyRetry),
          to_ns(config.rekey_interval_s > 0 ? config.rekey_interval_s : config.key_limit_s / 2)};
}

}  // namespace

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

KeyChanges DroneControl::reload_keys(bool dry_run) {
  const DroneKeys fresh(config_.keys, config_.drone_id);  // has nothing in memory yet
  const auto psk = fresh.psk();
  const auto& sig = *config_.suite->sig;
  KeyChanges out;
  std::unique_lock lock(keys_mutex_);
  for (auto& station : stations_) {
    auto now = psk_of_gcs(psk, station.peer.gcs_id);
    if (!constant_time_equal(now.view(), station.psk.view()) && out.renewed.empty())
      out.renewed.push_back(config_.drone_id);
    if (fresh.gcs_public(sig, station.peer.gcs_id) != keys_.gcs_public(sig, station.peer.gcs_id) && out.signing.empty())
      out.signing.emplace_back(sig.display);
    if (!dry_run) station.psk = std::move(now);
  }
  if (dry_run) return out;
  keys_ = fresh;
  lock.unlock();
  if (!out.renewed.empty() || !out.signing.empty()) {
    const std::lock_guard told(mutex_);
    keys_changed_ = attention_ = true;
  }
  if (client_) client_->nudge();
  wake_.notify_all();
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
    restarted_.emplace_back(session, now_ns());
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
  port_tried_ns_ = now_ns();
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
  if (now >= next_learn_ns_) learn_paths();
  if (follow_choice(now) || choice_.in_trouble(now) || !picture.current) return;
  port_tried_ns_ = now;
  told_port_ = false;
  for (auto& each : stations_) each.unheard_by.reset();
  if (const auto* back = std::exchange(moved_from_, nullptr)) {
    // Whoever stole the PSK could say so outside a session; inside of it only the gcs can, and a Reject costs little.
    if (!family_avoided(*back)) (void)rekey(*back, "asks the gcs itself", HandshakeKind::rekey);
    return;
  }
  if (next_periodic_ns_ == 0) schedule_periodic(true);
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
  const auto& suite = *picture.current->suite;
  const auto* why = due ? "interval" : worn ? "packets" : "key age";
  const auto outcome = rekey_or_move(suite, why, family_avoided(suite) ? HandshakeKind::rekey : next_rekey(facts));
  if (!outcome.ok) {
    if (rekey_is_late(facts)) ++late_failures_;
    retry_periodic();
  }
  next_attempt_ns_ = outcome.ok ? 0 : now_ns() + backoff_.next_ns();
}

void DroneControl::schedule_periodic(bool first) {
  next_periodic_ns_ = now_ns() + (first ? first_rekey_ns : jittered_ns)(config_.rekey_interval_s, random_) + 1;
  rekey_backoff_.reset();
  late_failures_ = 0;
}

/// After a rekey that failed.
void DroneControl::retry_periodic() {
  next_periodic_ns_ = now_ns() + std::min(rekey_backoff_.next_ns(), jittered_ns(config_.rekey_interval_s, random_)) + 1;
}

RekeyFacts DroneControl::facts_of(const LinkPicture& picture) const {
  auto out = pqcmav::facts_of(*picture.current, picture.key_old, now_ns(), boot_ns());
  out.interval = to_ns(config_.rekey_interval_s);
  out.key_limit = to_ns(config_.key_limit_s);
  out.late_failures = late_failures_;
  return out;
}

std::vector<std::string> DroneControl::blacklist() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const auto* suite : blacklist_.entries(now_ns())) out.push_back(suite->id);
  return out;
}

}  // namespace pqcmav
