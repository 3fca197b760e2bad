// SPDX-License-Identifier: Apache-2.0
// What the control side knows of one drone: running handshakes, results, and the state a user sees.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "net/link.hpp"
#include "pqc_mav_tunnel/events.hpp"
#include "pqc_mav_tunnel/status.hpp"

namespace pqcmav {

class LinkLedger {
 public:
  LinkLedger(std::string drone_id, EventQueue& events) : id_(std::move(drone_id)), events_(events) {}

  /// A handshake started (`change` +1) or ended (-1).
  void running(int change, bool rekey);
  /// Something a user should know of the handshake that runs: the last error until it has succeeded.
  void waiting_for(std::string sentence);
  /// Counts and reports a finished handshake.
  void finished(HandshakeEvent event);
  /// Recomputes the state and reports a change. Called from several threads: `newest` is asked when it is this call's
  /// turn, so that no older picture can have the last word.
  void refresh(const std::function<LinkPicture()>& newest);
  /// The state with everything else a user sees of the link.
  [[nodiscard]] LinkStatus status(const LinkPicture& picture) const;

 private:
  [[nodiscard]] LinkState state_of(const LinkPicture& picture) const;  // under mutex_
  [[nodiscard]] std::string reason_for(LinkState state, const LinkPicture& picture) const;

  const std::string id_;
  EventQueue& events_;
  mutable std::mutex mutex_;
  int handshakes_running_ = 0, rekeys_running_ = 0;
  LinkState state_ = LinkState::down;
  std::uint32_t ok_ = 0, failed_ = 0, rekeys_ok_ = 0;
  std::string last_error_;
};

}  // namespace pqcmav
