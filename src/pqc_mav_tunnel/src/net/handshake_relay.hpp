// SPDX-License-Identifier: Apache-2.0
// What a further data thread has to tell the handshakes, which live in the first one. It is handed over, and the thread
// that does so never waits: what comes from outside has a limited number of places on the way, and is lost like a packet
// where there is none.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

#include "net/handshake_port.hpp"

namespace pqcmav {

class DataPlane;

class HandshakeRelay final : public HandshakePort {
 public:
  static constexpr std::size_t kFrames = 1024, kStrangers = 64;

  /// `target` is called in the first plane's thread.
  HandshakeRelay(DataPlane& own, DataPlane& first, HandshakePort& target) : own_(own), first_(first), target_(target) {}

  /// The kernel hands handshake datagrams to the first thread. Were one to come here, it would come again.
  HandshakeDrop on_datagram(ByteView, const SockAddr&, std::uint64_t) override { return HandshakeDrop::limit; }
  void on_session_frame(std::size_t link, ByteView value, std::uint64_t now) override;
  void on_unknown_session(const SessionId& session, const SockAddr& source, std::uint64_t now) override;
  void on_session_ended(std::size_t link, std::uint64_t now) override;
  void on_removed(std::size_t, std::uint64_t) override {}  // done in the first thread
  void on_switched(std::size_t link, std::uint64_t now) override;
  void on_grant_due(std::size_t link, std::uint64_t now) override;
  void on_return(const ReturnGrant&, std::size_t) override {}  // a gcs gives, it does not take
  void on_restart_token(const RestartToken&, std::size_t) override {}
  void run(std::uint64_t) override {}
  [[nodiscard]] std::uint64_t deadline() const noexcept override { return ~std::uint64_t{0}; }

  /// Frames that found no place.
  [[nodiscard]] std::uint64_t full() const noexcept { return full_.get(); }

 private:
  void tell(std::size_t link, std::function<void()> what);

  DataPlane &own_, &first_;
  HandshakePort& target_;
  std::atomic<std::size_t> frames_{0}, strangers_{0};  // on their way
  Counter full_;
};

}  // namespace pqcmav
