// SPDX-License-Identifier: Apache-2.0
#include "control/gcs_control.hpp"

#include <algorithm>

#include "control/features.hpp"
#include "crypto/kdf.hpp"
#include "handshake/ratchet.hpp"
#include "keys/restart_key_file.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

constexpr std::chrono::milliseconds kAskAgain{1000};
constexpr std::uint64_t kRefusalLogNs = 5'000'000'000;
constexpr unsigned kWaitingForDrone = 4;

}  // namespace

GcsControl::GcsControl(const EngineConfig& config, EventQueue& events)
    : config_(config.lean()),
      events_(events),
      keys_(config.keys),
      pool_(config.key_pool_depth, to_ns(config.key_pool_max_age_s), config.key_pool_kems),
      avoided_(config.avoid.bits()) {
  for (const auto& entry : config.drones) {
    by_id_[entry.id] = drones_.size();
    drones_.push_back(std::make_shared<Drone>(entry, keys_.psk(entry.id), events));
  }
  read_signing_keys();
}

std::set<const SigInfo*> GcsControl::signatures_allowed() const {
  std::set<const SigInfo*> out;
  const auto add = [&](const std::vector<const Suite*>& suites) {
    for (const auto* suite : suites) out.insert(suite->sig);
  };
  add(config_.allowed_suites);
  bool all = false;
  {
    const std::shared_lock lock(drones_mutex_);
    for (const auto& drone : drones_) {
      if (!drone) continue;
      add(drone->entry.allowed_suites);
      all = all || (drone->entry.allowed_suites.empty() && config_.allowed_suites.empty());
    }
  }
  if (all) add(suites_in(SuiteView::all, true));
  return out;
}

/// For advice that can be typed as it is.
std::string GcsControl::first_drone() const {
  const std::shared_lock lock(drones_mutex_);
  const auto drone = std::ranges::find_if(drones_, [](const auto& each) { return each != nullptr; });
  return drone == drones_.end() ? "drone1" : (*drone)->id;
}

/// A key that is there must be good. One that is not there costs its suites: the gcs serves the others, and says so
/// once; a key that comes later is read when a drone asks for it.
void GcsControl::read_signing_keys() {
  std::string lacking;
  for (const auto* sig : signatures_allowed()) {
    if (keys_.has_sig_secret(*sig))
      (void)signing_key(*sig);
    else
      lacking += (lacking.empty() ? "" : ", ") + std::string(sig->display);
  }
  if (lacking.empty()) return;
  if (signing_.empty())
    throw TunnelError(Errc::key_missing, "None of the allowed suites can be served: there is no signing key for " +
                                             lacking + " below " + config_.keys +
                                             "; make keys with 'pqcmav keys init " + first_drone() +
                                             "', or copy them from where they were made.");
  events_.log(LogLevel::warning, "",
              "No signing key for " + lacking + ": their suites are refused. 'pqcmav keys init " + first_drone() +
                  "' makes the missing keys; leaving these suites out of 'allowed_suites' ends this warning.");
}

std::optional<std::size_t> GcsControl::find(std::string_view drone_id) const {
  const std::shared_lock lock(drones_mutex_);
  const auto it = by_id_.find(drone_id);
  return it == by_id_.end() ? std::nullopt : std::optional(it->second);
}

GcsControl::DronePtr GcsControl::drone_at(std::size_t link) const {
  const std::shared_lock lock(drones_mutex_);
  return link < drones_.size() ? drones_[link] : nullptr;
}

GcsControl::DronePtr GcsControl::drone_of(std::string_view drone_id) const {
  const std::shared_lock lock(drones_mutex_);
  const auto it = by_id_.find(drone_id);
  return it == by_id_.end() ? nullptr : drones_[it->second];
}

std::vector<GcsControl::DronePtr> GcsControl::all_drones() const {
  const std::shared_lock lock(drones_mutex_);
  return drones_;
}

std::shared_ptr<const LinkLedger> GcsControl::ledger(std::size_t link) const {
  const auto drone = drone_at(link);
  return drone ? std::shared_ptr<const LinkLedger>(drone, &drone->ledger) : nullptr;
}

SecretBytes GcsControl::signing_key(const SigInfo& sig) {
  const std::lock_guard lock(signing_mutex_);
  auto it = signing_.find(&sig);
  if (it == signing_.end()) it = signing_.emplace(&sig, keys_.sig_secret(sig)).first;
  return it->second.clone();
}

std::optional<Reject> GcsControl::check_suite(std::string_view drone_id, const Suite& suite, bool hybrid) {
  const auto drone = drone_of(drone_id);
  if (!drone) return Reject::suite_not_allowed;  // removed since its M1 came
  std::vector<const Suite*> allowed;
  {
    const std::shared_lock lock(drones_mutex_);
    allowed = drone->entry.allowed_suites.empty() ? config_.allowed_suites : drone->entry.allowed_suites;
  }
  if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), &suite) == allowed.end())
    return Reject::suite_not_allowed;
  if (!hybrid && !config_.allow_pure) return Reject::suite_not_allowed;
  if (!availability(suite).available) return Reject::algorithm_unavailable;  // there is no key to look for
  try {
    (void)signing_key(*suite.sig);
  } catch (const TunnelError& error) {
    events_.log(LogLevel::error, std::string(drone_id),
                std::string("Refused ") + suite.short_code + ": " + error.what());
    return Reject::algorithm_unavailable;
  }
  return std::nullopt;
}

void GcsControl::avoid(Families families) {
  if (avoided_.exchange(families.bits()) == families.bits()) return;
  events_.log(LogLevel::warning, "",
              families.empty() ? "No family of algorithms is avoided any more."
                               : "No keys are made with " + families.text() +
                                     " from now on. Sessions that have such keys go on until their next rekey.");
}

/// `share`: the data thread to which the packets of the sessions come.
std::shared_ptr<const ResponderEnv> GcsControl::environment(DataShare share) {
  auto env = std::make_shared<ResponderEnv>();
  env->gcs_id = config_.gcs_id;
  env->find_drone = [this](std::string_view id) -> std::optional<DroneRecord> {
    const auto drone = drone_of(id);
    if (!drone) return std::nullopt;
    const std::shared_lock lock(drones_mutex_);
    if (!drone->psk) return std::nullopt;
    const auto& rule = drone->entry.require_signature;
    const std::uint16_t more = drone->entry.radio ? features::kCompact : 0;  // of which each byte counts
    return DroneRecord{drone->psk->clone(), rule.value_or(false), !rule.has_value(), config_.allow_pure, more};
  };
  env->check_suite = [this](std::string_view id, const Suite& suite, bool hybrid) {
    return check_suite(id, suite, hybrid);
  };
  env->avoided = [this] { return Families(avoided_.load(std::memory_order_relaxed)); };
  env->gcs_secret = [this](const SigInfo& sig) { return signing_key(sig); };
  env->drone_public = [this](std::string_view id, const SigInfo& sig) { return keys_.drone_public(id, sig); };
  env->kem_keypair = [this](const KemInfo& kem) { return pool_.take(kem); };
  env->features = features_of(config_);
  env->receive_index = [indices = IndexPool::make(kGcsIndices, to_ns(kIndexRest), now_ns, share.number,
                                                  share.threads)] { return indices->take(); };
  if (share.threads > 1) env->takes_id = [share](const SessionId& id) { return share.takes(id); };
  return env;
}

/// Without a place to keep one, a key that lives as long as the process: drones then notice a restart by its silence.
RestartKey GcsControl::restart_key() {
  try {
    return RestartKey(load_or_make_restart_key(config_.keys));
  } catch (const TunnelError& error) {
    if (error.code() != Errc::io) throw;
    events_.log(
        LogLevel::warning, "",
        std::string("No restart key can be kept, so drones notice a restart of this gcs only by its silence: ") +
            error.what());
  }
  Secret<kRestartKeySize> key;
  random_bytes(key.mut());
  return RestartKey(std::move(key));
}

void GcsControl::start(DataPlane& data) {
  data_ = &data;
  const auto finished = [this](const std::string& id, HandshakeEvent event) {
    const auto index = find(id);
    const auto drone = index ? drone_at(*index) : nullptr;
    if (!drone) return;
    const auto picture = data_->link(*index).picture();
    const auto& info = picture.pending ? picture.pending : picture.current;
    if (event.ok && info) {
      event.epoch = info->epoch;
      event.hybrid = info->hybrid;
      if (drone->signed_once && !info->drone_signed)
        events_.log(LogLevel::warning, id,
                    "This drone signed its handshakes before and does not now: check who has its PSK, and set "
                    "'require_signature'.");
      drone->signed_once = drone->signed_once || info->drone_signed;
    }
    drone->ledger.finished(std::move(event));
  };
  const auto progress = [this](const std::string& id, int change) {
    if (const auto index = find(id)) {
      if (const auto drone = drone_at(*index)) drone->ledger.running(change, false);
      on_changed(*index);
    }
  };
  const auto refused = [this](const std::string& source, const std::string& id, HandshakeError error) {
    on_refused(source, id, error);
  };
  std::vector<std::shared_ptr<const ResponderEnv>> environments;  // of each data thread
  for (std::size_t i = 0; i < data.threads(); ++i) environments.push_back(environment({i, data.threads()}));
  const auto env = environments.front();
  const auto env_of = [&data, environments = std::move(environments)](std::size_t link) {
    return environments[data.share_of(link).number];
  };
  HandshakeServer::Host host{env,      env_of,   [this](std::string_view id) { return find(id); },
                             finished, progress, refused};
  server_ = std::make_unique<HandshakeServer>(
      AdmissionLimits{config_.max_handshakes, drones_.size(), config_.handshakes_per_drone_s},
      config_.handshake_threads, restart_key(), std::move(host), data);
  data.set_handshakes(server_.get());
}

void GcsControl::stop() {
  {
    const std::lock_guard lock(asked_mutex_);
    stopping_ = true;
  }
  answered_.notify_all();
  if (server_) server_->stop();
}

/// A flood of them must not become a flood of log lines.
void GcsControl::on_refused(const std::string& source, const std::string& drone_id, HandshakeError error) {
  const auto now = now_ns();
  if (now < next_refusal_log_ns_) {
    ++unlogged_refusals_;
    return;
  }
  next_refusal_log_ns_ = now + kRefusalLogNs;
  const bool known = find(drone_id).has_value();
  auto text = "Refused a handshake from " + source +
              (drone_id.empty() ? ". " : " in the name of '" + drone_id + "'. ") + describe(error, 0, false);
  if (unlogged_refusals_ > 0) text += " (" + std::to_string(unlogged_refusals_) + " more since the last such line.)";
  unlogged_refusals_ = 0;
  events_.log(LogLevel::warning, known ? drone_id : "", std::move(text));
}

KeyChanges GcsControl::reload_keys(bool dry_run, const std::vector<DroneEntry>* wanted) {
  const std::lock_guard one_at_a_time(changes_mutex_);
  auto drones = all_drones();
  bool newcomers = false;
  if (wanted != nullptr) {
    const auto goes = [&](const DronePtr& drone) {
      return drone && std::ranges::find(*wanted, drone->id, &DroneEntry::id) == wanted->end();
    };
    for (auto& drone : drones)
      if (goes(drone)) drone.reset();
    newcomers = std::ranges::any_of(*wanted, [&](const auto& each) { return !find(each.id); });
  }
  const auto there = keys_.drone_ids();
  // All is read before anything changes.
  std::vector<std::optional<Psk>> psks;
  std::size_t left = 0, gone = 0;
  for (const auto& drone : drones) {
    if (!drone) {
      psks.emplace_back();
      continue;
    }
    // A key that is there must be good: only one that was taken away shuts its drone out.
    const bool has = std::ranges::binary_search(there, drone->id);
    psks.push_back(has ? std::optional(keys_.psk(drone->id)) : std::nullopt);
    left += has;
    const std::shared_lock lock(drones_mutex_);
    gone += !has && drone->psk;
  }
  // One may have been revoked, and be the only one. Several at once are more likely a card that is not there.
  if (!newcomers && left == 0 && gone > 1)
    throw TunnelError(Errc::key_missing,
                      "None of the " + std::to_string(gone) + " drones has a key below " + config_.keys +
                          " now; nothing was changed. Is the folder mounted? If they were revoked, call 'pqcmav drones "
                          "remove' for all but one, then reload.");
  std::map<const SigInfo*, SecretBytes> signing;
  for (const auto* sig : signatures_allowed())
    if (keys_.has_sig_secret(*sig)) signing.emplace(sig, keys_.sig_secret(*sig));
  if (signing.empty())
    throw TunnelError(Errc::key_missing,
                      "There is no signing key below " + config_.keys + " now; nothing was changed.");

  KeyChanges out;
  {
    const std::lock_guard lock(signing_mutex_);
    for (const auto* sig : signatures_allowed()) {
      const auto before = signing_.find(sig), now = signing.find(sig);
      const bool had = before != signing_.end(), has = now != signing.end();
      if (had != has || (has && !constant_time_equal(before->second.view(), now->second.view())))
        out.signing.emplace_back(sig->display);
    }
    if (!dry_run) signing_.swap(signing);
  }
  std::vector<std::size_t> shut_out;
  {
    const std::lock_guard lock(drones_mutex_);
    for (std::size_t i = 0; i < drones.size(); ++i) {
      if (!drones[i]) continue;
      auto& psk = drones[i]->psk;
      if (psks[i] && !(psk && constant_time_equal(psk->view(), psks[i]->view()))) out.renewed.push_back(drones[i]->id);
      if (psk && !psks[i]) out.removed.push_back(drones[i]->id);
      if (dry_run) continue;
      if (psk && !psks[i]) shut_out.push_back(i);
      psk = std::move(psks[i]);
    }
  }
  for (const auto link : shut_out) {
    drones[link]->ledger.waiting_for("This drone has no key on this gcs any more: it is refused.");
    data_->post([this, link] {
      server_->forget(link, now_ns());
      data_->end_session(link, now_ns());
    });
  }
  return out;
}

void GcsControl::end_session(std::size_t link) {
  if (const auto drone = drone_at(link))
    drone->ledger.waiting_for("Its session was ended here; it needs a handshake with the current key.");
  data_->ask([this, link] {
    if (!drone_at(link)) return false;
    server_->forget(link, now_ns());
    data_->end_session(link, now_ns());
    return true;
  });
}

void GcsControl::on_set_back() {
  for (std::size_t i = 0; i < data_->link_count(); ++i)
    if (drone_at(i)) server_->forget(i, now_ns());
  pool_.clear();
}

void GcsControl::on_changed(std::size_t link) {
  if (const auto drone = drone_at(link))
    drone->ledger.refresh([&] { return data_->picture_of(link).value_or(LinkPicture{}); });
}

void GcsControl::on_rekey_answered(std::size_t link, const RekeyResult& result) {
  {
    const std::lock_guard lock(asked_mutex_);
    for (auto& asked : asked_)
      if (asked.link == link && asked.id == result.request_id)
        asked.answer = RekeyOutcome{result.ok,
                                    "",
                                    result.epoch,
                                    result.duration_us / 1000.0,
                                    std::string(result.text),
                                    static_cast<double>(result.pin_s)};
  }
  answered_.notify_all();
}

RekeyOutcome GcsControl::request_rekey(std::size_t link, const std::string& suite, const std::string& reason,
                                       std::chrono::nanoseconds timeout, bool ratchet, std::uint32_t pin_s) {
  const auto drone = drone_at(link);
  const auto before = data_->picture_of(link);
  if (!drone || !before) return {false, suite, 0, 0, "This drone was removed from the ground station."};
  if (const auto& current = before->current; ratchet && current && (current->features & features::kRatchet) == 0)
    return {false, suite, 0, 0, std::string(describe(RatchetBar::feature))};
  std::string name;
  try {
    if (!suite.empty()) name = require_suite(suite).id;
  } catch (const TunnelError& error) {
    return {false, suite, 0, 0, std::string("The rekey was refused: ") + error.what()};
  }
  const auto id = random_number<std::uint32_t>();
  Bytes tlvs(620);
  const auto head = pin_s == 0 ? 0 : append_control(tlvs, 0, Pin{id, pin_s}).value_or(0);
  tlvs.resize(
      append_control(tlvs, head, RekeyRequest{id, name, std::string_view(reason).substr(0, 255), ratchet}).value_or(0));

  std::unique_lock lock(asked_mutex_);
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const auto free = [&] {
    return stopping_ || std::none_of(asked_.begin(), asked_.end(), [&](const auto& each) { return each.link == link; });
  };
  if (!free()) {
    if (waiting_[link] >= kWaitingForDrone)
      return {false, name, 0, 0, "Busy: four rekeys of this drone are waiting already; try again when they are done."};
    ++waiting_[link];
    const bool turn = answered_.wait_until(lock, deadline, free);
    if (--waiting_[link] == 0) waiting_.erase(link);
    if (!turn)
      return {false, name, 0, 0,
              "Busy: other rekeys of this drone took all the time that this one had; the running session is "
              "untouched."};
  }
  asked_.push_back({link, id, std::nullopt});
  const auto mine = [&] {
    return std::find_if(asked_.begin(), asked_.end(),
                        [&](const auto& each) { return each.id == id && each.link == link; });
  };
  RekeyOutcome out{false, name, 0, 0, "The drone did not answer in time; the running session is untouched."};
  // A request or its answer may be lost on the air: ask again with the same number, the drone does it once.
  while (!stopping_ && std::chrono::steady_clock::now() < deadline) {
    const auto picture = data_->picture_of(link);
    if (!picture || drone_at(link) != drone) {
      out.message = "This drone was removed from the ground station.";
      break;
    }
    if (!picture->can_send) {
      out.message = "There is no session with drone " + drone->id + "; it must connect first.";
      break;
    }
    lock.unlock();
    data_->send_control(link, tlvs, drone->id);
    lock.lock();
    answered_.wait_until(lock, std::min(deadline, std::chrono::steady_clock::now() + kAskAgain),
                         [&] { return stopping_ || mine()->answer; });
    if (mine()->answer) {
      out = *mine()->answer;
      const auto now = data_->picture_of(link);
      if (now && now->current) out.suite = now->current->suite->id;
      break;
    }
  }
  if (stopping_ && !mine()->answer) out.message = "The proxy is shutting down; nothing was changed.";
  asked_.erase(mine());
  lock.unlock();
  answered_.notify_all();  // the next one's turn
  return out;
}

}  // namespace pqcmav
