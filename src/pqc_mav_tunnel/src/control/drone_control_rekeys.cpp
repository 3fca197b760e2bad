// SPDX-License-Identifier: Apache-2.0
// Rekeys of the drone's session, and those who ask for them: this machine, and the gcs.
#include <algorithm>
#include <string_view>
#include <vector>

#include "control/drone_control.hpp"
#include "handshake/ratchet.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

constexpr const char* kNoSession = "There is no session to rekey; the drone is connecting.";
constexpr std::size_t kWaitingMost = 4;
constexpr const char* kBusy = "Busy: four rekeys of this drone are waiting already; try again when they are done.";

}  // namespace

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
    schedule_periodic(false);
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

bool DroneControl::family_avoided(const Suite& suite) {
  const std::lock_guard lock(mutex_);
  return blacklist_.avoided(now_ns()).has(suite);
}

/// Whether the gcs avoids the KEM of a ratchet's fresh share, which is not the suite's own.
bool DroneControl::ratchet_avoided(const Suite& suite) {
  const std::lock_guard lock(mutex_);
  return blacklist_.avoided(now_ns()).has(ratchet_kem(suite));
}

/// Where to go when the gcs avoids a family of `from`, or of what it came from: below neither its level nor that of the
/// configured suite, whoever says that it does. Null: no family is avoided, or nothing is left that both ends may have.
const Suite* DroneControl::successor(const Suite& from, std::size_t station) {
  const auto now = now_ns();
  std::vector<const Suite*> candidates;
  {
    const std::lock_guard lock(mutex_);
    const auto families = blacklist_.avoided(now);
    if (families.empty()) return nullptr;
    candidates = successors(from, std::max(from.level, config_.suite->level), families);
    std::erase_if(candidates, [&](const auto* suite) { return blacklist_.contains(*suite, now); });
  }
  for (const auto* suite : candidates) {
    if (!availability(*suite).available) continue;
    try {
      (void)parameters(*suite, station);  // the keys
      return suite;
    } catch (const TunnelError&) {
      continue;
    }
  }
  return nullptr;
}

void DroneControl::say_moving(const Suite& from, const Suite& to, const std::string& reason) {
  events_.log(LogLevel::warning, config_.drone_id,
              "From " + from.short_code + " to " + to.short_code + ", at the word of the ground station. " + reason);
}

/// For whoever named no suite: one that the gcs avoids, or lacks after that, gives way to the next; a ratchet whose KEM
/// it avoids, to a full handshake.
RekeyOutcome DroneControl::rekey_or_move(const Suite& suite, const std::string& reason, HandshakeKind kind) {
  const auto* running = &suite;
  for (unsigned moves = 0;; ++moves) {
    if (kind == HandshakeKind::ratchet && ratchet_avoided(*running)) kind = HandshakeKind::rekey;
    auto outcome = rekey(*running, reason, kind);
    if (outcome.ok || moves == kMovesMost) return outcome;
    if (kind == HandshakeKind::ratchet && ratchet_avoided(*running) && !avoided(*running)) continue;
    if (!avoided(*running)) return outcome;
    const auto* next = successor(*running, data_->link(0).picture().station);
    if (next == nullptr) return outcome;
    say_moving(*running, *next, outcome.message);
    running = next;
    kind = HandshakeKind::rekey;
  }
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
    auto outcome = request.suite.empty() ? rekey_or_move(suite, request.reason, request.kind)
                                         : rekey(suite, request.reason, request.kind);
    if (outcome.ok) pin(suite, request, outcome);
    if (before && outcome.ok) outcome.message += " It had failed before and was avoided; it no longer is.";
    if (before && !outcome.ok && avoided(suite))
      outcome.message = "This suite has failed before and is still avoided. " + outcome.message;
    return outcome;
  } catch (const TunnelError& error) {
    return {false, request.suite, 0, 0, std::string("The rekey was refused: ") + error.what()};
  }
}

/// An operator's word replaces the one before; a request for a suite without a pin takes it back.
void DroneControl::pin(const Suite& suite, const Request& request, RekeyOutcome& outcome) {
  const std::lock_guard lock(mutex_);
  if (request.pin_s > 0)
    pinned_ = Pinned{&suite, now_ns() + request.pin_s * 1'000'000'000ULL};
  else if (!request.suite.empty())
    pinned_.reset();
  outcome.pin_for_s = request.pin_s;
}

void DroneControl::add_pin(LinkStatus& status) const {
  const std::lock_guard lock(mutex_);
  const auto now = now_ns();
  if (!pinned_ || pinned_->until_ns <= now) return;
  status.pinned_suite = pinned_->suite->id;
  status.pin_for_s = static_cast<double>(pinned_->until_ns - now) / 1e9;
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
  const auto pin_s = static_cast<std::uint32_t>(outcome.pin_for_s);
  const auto head = pin_s == 0 ? 0 : append_control(tlvs, 0, Pin{id, pin_s}).value_or(0);
  const auto used = append_control(
      tlvs, head,
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
                             asked.ratchet ? HandshakeKind::ratchet : HandshakeKind::rekey, RemoteRequest{request_id},
                             std::min(asked.pin_s, static_cast<std::uint32_t>(kPinMost))});
    }
  }
  if (known) return answer_remote(0, request_id, *known);
  if (busy) return answer_remote(0, request_id, {false, suite, 0, 0, kBusy});
  wake_.notify_all();
}

RekeyOutcome DroneControl::request_rekey(const std::string& suite, const std::string& reason,
                                         std::chrono::nanoseconds timeout, bool ratchet, std::uint32_t pin_s) {
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
        {id, suite, reason, ratchet ? HandshakeKind::ratchet : HandshakeKind::rekey, std::move(promise), pin_s});
  }
  wake_.notify_all();
  if (answer.wait_for(timeout) == std::future_status::ready) return answer.get();
  const std::lock_guard lock(mutex_);
  // One whose turn has not come is not done behind the back of its caller.
  if (std::erase_if(requests_, [id](const Request& each) { return each.number == id; }) > 0)
    return {false, suite, 0, 0,
            "Busy: other rekeys of this drone took all the time that this one had; it was given up, and the running "
            "session is untouched."};
  return {false, suite, 0, 0,
          "The rekey did not finish in time; it continues in the background, and the running session is untouched."};
}

}  // namespace pqcmav
