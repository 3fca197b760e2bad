// SPDX-License-Identifier: Apache-2.0
#include "control/drone_control.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "crypto/wipe_stack.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kPollNs = 100'000'000;
constexpr unsigned kFailuresBeforeDefault = 3;
constexpr const char* kBusy = "Busy: another rekey of this drone is running; try again when it is done.";

std::uint64_t seed() {
  ByteArray<8> bytes;
  random_bytes(bytes);
  return load_be<std::uint64_t>(bytes.data());
}

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
      psk_(keys_.psk()),
      ledger_(config.drone_id, events),
      suite_(config.suite),
      backoff_(seed()),
      random_(static_cast<std::minstd_rand::result_type>(seed())),
      blacklist_(*config.suite, to_ns(config.blacklist_s)),
      cancel_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  (void)parameters(*suite_);  // the keys of the first handshake must be there and good
}

DroneControl::~DroneControl() { stop(); }

InitiatorParams DroneControl::parameters(const Suite& suite) const {
  InitiatorParams out;
  out.suite = &suite;
  out.drone_id = config_.drone_id;
  out.hybrid = config_.hybrid;
  out.psk = psk_.clone();
  out.gcs_public_key = keys_.gcs_public(*suite.sig);
  if (config_.sign) {
    out.own_secret = keys_.own_secret(*suite.sig);
    if (!out.own_secret)
      throw TunnelError(Errc::key_missing, "'sign' is on, but " + config_.keys + " has no key pair of this drone for " +
                                               std::string(suite.sig->display) +
                                               "; make one with 'pqcmav keys init --sign' and export it again.");
  }
  return out;
}

void DroneControl::start(DataPlane& data) {
  data_ = &data;
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
  thread_.join();
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
  const bool need_fresh = force_fresh_ || !picture.current || !picture.can_send ||
                          picture.heard_silence_ns >= to_ns(config_.reconnect_after_s);
  std::optional<Request> request;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
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
  if (need_fresh) {
    if (now >= next_attempt_ns_) fresh_handshake();
    return;
  }
  if (next_periodic_ns_ == 0) schedule_periodic();
  const bool due = config_.rekey_interval_s > 0 && now >= next_periodic_ns_;
  const bool worn = picture.key_use >= config_.rekey_packets && now >= next_attempt_ns_;
  if (!due && !worn) return;
  {
    const std::lock_guard lock(mutex_);
    if (!requests_.empty())
      return;  // a request comes first, and is not answered "busy" because of a rekey that began later
    busy_ = true;
  }
  const auto outcome = rekey(*picture.current->suite, due ? "interval" : "packets");
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

bool DroneControl::handshake(const Suite& suite, const SessionId& prev, std::uint8_t epoch, ClientOutcome& outcome) {
  const bool rekey = prev != SessionId{};
  ledger_.running(+1, rekey);
  ledger_.refresh([this] { return data_->link(0).picture(); });
  try {
    auto params = parameters(suite);
    params.prev_session = prev;
    params.epoch = epoch;
    outcome = run_client_handshake(config_.peer, config_.handshake_port, std::move(params), cancel_.get(),
                                   [this](const SockAddr& address) { return data_->reaches(address); });
  } catch (const TunnelError& error) {
    outcome.error = HandshakeError::crypto;
    outcome.reason = error.what();
  }
  bool ok = outcome.error == HandshakeError::none;
  if (ok) {
    auto peer = outcome.gcs;
    peer.set_port(config_.data_port);
    ok = data_->install(0, std::move(outcome.keys), prev, peer);
    if (!ok) outcome.error = HandshakeError::cancelled;
  }
  wipe_stack();
  {
    const std::lock_guard lock(mutex_);
    if (ok)
      blacklist_.remove(suite);
    else if ((outcome.answered || outcome.error != HandshakeError::timeout) &&
             Blacklist::blames_suite(outcome.error, outcome.reject_code))
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
  event.peer = outcome.gcs.text();
  event.duration_ns = outcome.duration_ns;
  event.connect_ns = outcome.connect_ns;
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

void DroneControl::fresh_handshake() {
  force_fresh_ = false;
  ClientOutcome outcome;
  if (handshake(*suite_, SessionId{}, 0, outcome)) {
    backoff_.reset();
    failures_ = 0;
    next_attempt_ns_ = 0;
    schedule_periodic();
    return;
  }
  // A suite that was chosen in flight and no longer works must not keep the drone off the air: back to the configured
  // one. A gcs that is out of reach says nothing about the suite: cutting the link must not choose it.
  bool listed = false;
  {
    const std::lock_guard lock(mutex_);
    listed = blacklist_.contains(*suite_, now_ns());
  }
  if (suite_ != config_.suite && (listed || (outcome.answered && ++failures_ >= kFailuresBeforeDefault))) {
    events_.log(
        LogLevel::warning, config_.drone_id,
        "Handshakes with " + suite_->id + " keep failing; going back to the configured " + config_.suite->id + ".");
    suite_ = config_.suite;
    failures_ = 0;
  }
  next_attempt_ns_ = now_ns() + backoff_.next_ns();
}

RekeyOutcome DroneControl::rekey(const Suite& suite, const std::string& reason) {
  RekeyOutcome out;
  out.suite = suite.id;
  const auto picture = data_->link(0).picture();
  if (!picture.current) {
    out.message = "There is no session to rekey; the drone is connecting with " + suite_->id + ".";
    return out;
  }
  // After epoch 255 the next handshake is a first one, with a new session and epoch 0.
  const bool wrap = picture.current->epoch == 255;
  const auto prev = wrap ? SessionId{} : picture.current->id;
  out.epoch = wrap ? 0 : static_cast<std::uint8_t>(picture.current->epoch + 1);
  ClientOutcome outcome;
  out.ok = handshake(suite, prev, out.epoch, outcome);
  out.duration_ms = static_cast<double>(outcome.duration_ns) / 1e6;
  if (out.ok) {
    suite_ = &suite;
    out.message = "Rekeyed to " + suite.id + ", epoch " + std::to_string(out.epoch) +
                  (reason.empty() ? "." : " (" + reason + ").");
    schedule_periodic();
  } else {
    out.epoch = picture.current->epoch;
    out.message = "The rekey to " + suite.id + " failed and the running session continues: " + outcome.reason;
    if (outcome.error == HandshakeError::rejected &&
        outcome.reject_code == static_cast<std::uint8_t>(Reject::session_unknown)) {
      // The gcs was restarted and does not know this session any more: a fresh one is the way on.
      force_fresh_ = true;
    }
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
  {
    const std::lock_guard lock(mutex_);
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
