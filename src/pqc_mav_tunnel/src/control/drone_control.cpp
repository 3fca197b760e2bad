// SPDX-License-Identifier: Apache-2.0
#include "control/drone_control.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

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
constexpr std::uint64_t kSayNothingHeardNs = 2'000'000'000;
constexpr const char* kNoSession = "There is no session to rekey; the drone is connecting.";
constexpr const char* kBusy = "Busy: another rekey of this drone is running; try again when it is done.";

}  // namespace

std::uint64_t Backoff::next_ns() {
  const auto base = std::min(to_ns(kBackoffMax), to_ns(kBackoffFirst) << std::min(step_, 10u));
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
      psk_(psk_of_gcs(keys_.psk(), config.gcs_id)),
      ledger_(config.drone_id, events),
      suite_(config.suite),
      backoff_(random_number<std::uint64_t>()),
      random_(random_number<std::uint32_t>()),
      blacklist_(*config.suite, to_ns(config.blacklist_s)),
      cancel_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  (void)parameters(*suite_);  // the keys of the first handshake must be there and good
}

DroneControl::~DroneControl() { stop(); }

InitiatorParams DroneControl::parameters(const Suite& suite) const {
  InitiatorParams out;
  out.suite = &suite;
  out.drone_id = config_.drone_id;
  out.gcs_id = config_.gcs_id;
  out.hybrid = config_.hybrid;
  const std::lock_guard lock(keys_mutex_);
  out.psk = psk_.clone();
  out.gcs_public_key = keys_.gcs_public(*suite.sig);
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
  auto psk = psk_of_gcs(fresh.psk(), config_.gcs_id);
  const auto gcs_public = fresh.gcs_public(*config_.suite->sig);
  KeyChanges out;
  const std::lock_guard lock(keys_mutex_);
  if (!constant_time_equal(psk.view(), psk_.view())) out.renewed.push_back(config_.drone_id);
  if (gcs_public != keys_.gcs_public(*config_.suite->sig)) out.signing.emplace_back(config_.suite->sig->display);
  keys_ = fresh;
  psk_ = std::move(psk);
  return out;
}

void DroneControl::attach(DataPlane& data) {
  data_ = &data;
  client_ = std::make_unique<HandshakeClient>(data, [this] { on_restarted(); });
  read_return_file();
  data.set_handshakes(client_.get());
}

/// A grant that is of no use costs a Retry, and is replaced by the next one.
void DroneControl::read_return_file() {
  if (config_.state_dir.empty()) return;
  return_file_.emplace(config_.state_dir, config_.drone_id, config_.gcs_id);
  try {
    if (auto ticket = return_file_->load(serial_now())) client_->remember(std::move(*ticket));
  } catch (const TunnelError& error) {
    events_.log(LogLevel::warning, config_.drone_id,
                std::string("The stored return grant is not used: ") + error.what());
  }
}

void DroneControl::write_return_file() {
  if (!return_file_) return;
  const auto ticket = client_->new_ticket();
  if (!ticket) return;
  try {
    return_file_->store(*ticket);
    told_unwritable_ = false;
  } catch (const TunnelError& error) {
    if (std::exchange(told_unwritable_, true)) return;
    events_.log(LogLevel::warning, config_.drone_id,
                std::string("The return grant is kept in memory only, check 'state_dir': ") + error.what());
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

void DroneControl::on_restarted() {
  {
    const std::lock_guard lock(mutex_);
    restarted_ = true;
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
    write_return_file();
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, nanoseconds(kPollNs), [&] { return stopping_ || attention_ || !requests_.empty(); });
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
  bool need_first =
      !picture.current || !picture.can_send || picture.heard_silence_ns >= to_ns(config_.reconnect_after_s);
  std::optional<Request> request;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    if (restarted_) {
      need_first = true;
      next_attempt_ns_ = 0;
    }
    if (!requests_.empty()) {
      request = std::move(requests_.front());
      requests_.pop_front();
    }
    busy_ = request.has_value();
    const auto* remote = request ? std::get_if<RemoteRequest>(&request->answer_to) : nullptr;
    serving_remote_ = remote != nullptr ? std::optional(remote->id) : std::nullopt;
  }
  if (request) {
    serve(std::move(*request));
    return;
  }
  if (need_first) {
    if (now >= next_attempt_ns_) first_handshake();
    return;
  }
  if (next_periodic_ns_ == 0) schedule_periodic();
  const bool due = config_.rekey_interval_s > 0 && now >= next_periodic_ns_;
  const bool worn = picture.key_use >= config_.rekey_packets && now >= next_attempt_ns_;
  const bool old = picture.key_old && now >= next_old_ns_;
  if (!due && !worn && !old) return;
  if (old) next_old_ns_ = now + to_ns(kOldKeyRetry);
  {
    const std::lock_guard lock(mutex_);
    if (!requests_.empty())
      return;  // a request comes first, and is not answered "busy" because of a rekey that began later
    busy_ = true;
  }
  const auto outcome = rekey(*picture.current->suite, due ? "interval" : worn ? "packets" : "key age");
  {
    const std::lock_guard lock(mutex_);
    busy_ = false;
  }
  schedule_periodic();
  next_attempt_ns_ = outcome.ok ? 0 : now_ns() + backoff_.next_ns();
}

void DroneControl::schedule_periodic() {
  next_periodic_ns_ = now_ns() + jittered_ns(config_.rekey_interval_s, random_) + 1;
}

/// The gcs' addresses that the encrypted socket can reach; none, with the reason in the outcome.
std::vector<SockAddr> DroneControl::addresses(ClientOutcome& outcome) const {
  std::vector<SockAddr> found;
  try {
    auto all = lookup(config_.peer, config_.data_port, SOCK_DGRAM, cancel_.get());
    if (!all) {
      outcome.error = HandshakeError::cancelled;
      outcome.reason = "The handshake was cancelled.";
      return {};
    }
    found = std::move(*all);
  } catch (const TunnelError& error) {
    outcome.error = HandshakeError::unreachable;
    outcome.reason = error.what();
    return {};
  }
  std::erase_if(found, [this](const auto& address) { return !data_->reaches(address); });
  if (found.empty()) {
    outcome.error = HandshakeError::unreachable;
    outcome.reason = "'" + config_.peer +
                     "' has no address that the configured 'bind' can reach: leave 'bind' empty, or give an address of "
                     "the peer's kind (IPv4, IPv6).";
  }
  return found;
}

/// Asked while an attempt runs: a sentence ends it.
std::optional<std::string> DroneControl::reason_to_give_up(bool rekey, bool replaces, std::uint64_t began_ns) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return "The proxy is shutting down.";
    if (rekey && restarted_) return "The gcs was restarted and does not know this session any more.";
  }
  const auto picture = data_->link(0).picture();
  const auto reconnect_ns = to_ns(config_.reconnect_after_s);
  if (rekey && (!picture.can_send || picture.heard_silence_ns >= reconnect_ns))
    return "The gcs fell silent; a first handshake comes instead.";
  // What answers first wins: the running session, or the handshake that would replace it.
  if (replaces && picture.can_send && picture.heard_silence_ns < reconnect_ns / 2)
    return "The running session is heard again.";
  if (!rekey && !told_silence_ && client_->silent() && now_ns() - began_ns > kSayNothingHeardNs) {
    told_silence_ = true;
    ledger_.waiting_for("No answer yet from the gcs at " + config_.peer + ":" + std::to_string(config_.data_port) +
                        " (UDP); the drone keeps asking. Check 'peer', the network and firewalls, and that both ends "
                        "have the same PSK: a gcs does not answer strangers.");
  }
  return std::nullopt;
}

bool DroneControl::handshake(const Suite& suite, bool rekey, ClientOutcome& outcome) {
  ledger_.running(+1, rekey);
  ledger_.refresh([this] { return data_->link(0).picture(); });
  told_silence_ = false;
  std::uint8_t epoch = 0;
  try {
    auto params = parameters(suite);
    params.features = features_of(config_);
    if (config_.compact) params.own_index = indices_->take();
    if (!params.own_index.value()) params.features &= static_cast<std::uint16_t>(~features::kCompact);
    std::vector<SockAddr> targets;
    bool replaces = false;
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
      params.ticket = client_->ticket();
      targets = addresses(outcome);
      const std::lock_guard lock(mutex_);
      replaces = !std::exchange(restarted_, false) && data_->link(0).picture().can_send;
    }
    if (outcome.error == HandshakeError::none)
      outcome = client_->run(std::move(params), std::move(targets),
                             [&, began = now_ns()] { return reason_to_give_up(rekey, replaces, began); });
  } catch (const TunnelError& error) {
    outcome.error = HandshakeError::crypto;
    outcome.reason = error.what();
  }
  bool ok = outcome.error == HandshakeError::none;
  if (ok) {
    ok = data_->install(0, std::move(outcome.keys), outcome.gcs);
    if (!ok) outcome.error = HandshakeError::cancelled;
  }
  wipe_stack();
  {
    const std::lock_guard lock(mutex_);
    if (ok)
      blacklist_.remove(suite);
    else if (Blacklist::blames_suite(outcome.error, outcome.reject_code))
      blacklist_.add(suite, outcome.reason, now_ns());
  }
  ledger_.running(-1, rekey);
  HandshakeEvent event;
  event.ok = ok;
  event.error = outcome.error;
  event.reason = outcome.reason;
  event.suite = suite.id;
  event.hybrid = config_.hybrid;
  event.rekey = rekey;
  event.drone_side = true;
  event.epoch = epoch;
  event.peer = outcome.gcs.empty() ? data_->link(0).picture().peer.text() : outcome.gcs.text();
  event.duration_ns = outcome.duration_ns;
  event.times = outcome.times;
  ledger_.finished(std::move(event));
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

void DroneControl::first_handshake() {
  ClientOutcome outcome;
  if (handshake(*suite_, false, outcome)) {
    backoff_.reset();
    next_attempt_ns_ = 0;
    schedule_periodic();
    return;
  }
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
  next_attempt_ns_ = at_once ? 0 : now_ns() + backoff_.next_ns();
}

RekeyOutcome DroneControl::rekey(const Suite& suite, const std::string& reason) {
  RekeyOutcome out;
  out.suite = suite.id;
  const auto picture = data_->link(0).picture();
  if (!picture.current) {
    out.message = kNoSession;
    return out;
  }
  out.epoch = static_cast<std::uint8_t>(picture.current->epoch + 1);
  ClientOutcome outcome;
  out.ok = handshake(suite, true, outcome);
  out.duration_ms = static_cast<double>(outcome.duration_ns) / 1e6;
  if (out.ok) {
    suite_ = &suite;
    out.message = "Rekeyed to " + suite.short_code + ", epoch " + std::to_string(out.epoch) +
                  (reason.empty() ? "." : " (" + reason + ").");
    schedule_periodic();
  } else {
    out.epoch = picture.current->epoch;
    out.message = "The rekey to " + suite.short_code + " failed and the running session continues: " + outcome.reason;
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
    const bool before = avoided(suite);
    auto outcome = rekey(suite, request.reason);
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
    busy_ = false;
    if (serving_remote_) last_remote_ = {*serving_remote_, outcome};
    serving_remote_.reset();
  }
  if (auto* promise = std::get_if<std::promise<RekeyOutcome>>(&request.answer_to))
    promise->set_value(outcome);
  else
    answer_remote(std::get<RemoteRequest>(request.answer_to).id, outcome);
}

void DroneControl::answer_remote(std::uint32_t id, const RekeyOutcome& outcome) {
  Bytes tlvs(512);
  const auto text = std::string_view(outcome.message).substr(0, 255);
  const auto used = append_control(
      tlvs, 0,
      RekeyResult{id, outcome.ok, outcome.epoch, static_cast<std::uint32_t>(outcome.duration_ms * 1000), text});
  tlvs.resize(used.value_or(0));
  if (!tlvs.empty()) data_->send_control(0, std::move(tlvs));
}

void DroneControl::on_rekey_requested(std::uint32_t request_id, std::string suite, std::string reason) {
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
      busy = busy_ || !requests_.empty();
      if (!busy) requests_.push_back({std::move(suite), std::move(reason), RemoteRequest{request_id}});
    }
  }
  if (known) return answer_remote(request_id, *known);
  if (busy) return answer_remote(request_id, {false, suite, 0, 0, kBusy});
  wake_.notify_all();
}

RekeyOutcome DroneControl::request_rekey(const std::string& suite, const std::string& reason,
                                         std::chrono::nanoseconds timeout) {
  std::promise<RekeyOutcome> promise;
  auto answer = promise.get_future();
  const bool session = data_->link(0).picture().current.has_value();
  {
    const std::lock_guard lock(mutex_);
    // A first handshake may be under way for long: whoever asks meanwhile should not wait for it.
    if (!session && !stopping_) return {false, suite, 0, 0, kNoSession};
    if (stopping_) return {false, suite, 0, 0, "The proxy is shutting down; nothing was changed."};
    if (busy_ || !requests_.empty()) return {false, suite, 0, 0, kBusy};
    requests_.push_back({suite, reason, std::move(promise)});
  }
  wake_.notify_all();
  if (answer.wait_for(timeout) != std::future_status::ready)
    return {false, suite, 0, 0,
            "The rekey did not finish in time; it continues in the background, and the running session is untouched."};
  return answer.get();
}

}  // namespace pqcmav
