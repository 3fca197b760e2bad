// SPDX-License-Identifier: Apache-2.0
// What the data thread does besides packets: control messages, keepalives, probes and reports, expiry, new keys.
#include <array>
#include <chrono>
#include <cstring>
#include <future>

#include "net/data_plane.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kInstallNs = 50'000;

}  // namespace

void DataPlane::on_control(Link& link, std::size_t index, const ControlList& controls, bool current,
                           std::uint64_t now) {
  for (std::size_t i = 0; i < controls.count; ++i) {
    const auto& control = controls.items[i];
    if (const auto* probe = std::get_if<Probe>(&control)) {
      std::array<std::uint8_t, 64> tlvs{};
      const auto size = append_control(tlvs, 0, ProbeReply{probe->id, probe->t1, now, now_ns()});
      send_control_now(link, ByteView(tlvs).first(*size), now);
    } else if (const auto* reply = std::get_if<ProbeReply>(&control)) {
      link.probes.on_reply(*reply, now);
    } else if (const auto* report = std::get_if<LinkReport>(&control)) {
      link.remote = *report;
      link.remote_at_ns = now;
    } else if (const auto* request = std::get_if<RekeyRequest>(&control)) {
      if (hooks_.rekey_requested)
        hooks_.rekey_requested(index, request->request_id, std::string(request->suite), std::string(request->reason));
    } else if (const auto* result = std::get_if<RekeyResult>(&control)) {
      if (hooks_.rekey_answered) hooks_.rekey_answered(index, *result);
    } else if (std::holds_alternative<Close>(control) &&
               current) {  // one that was held back says nothing about the session of now
      link.session.close(now);
      link.closed_by_peer = true;
      changed(index, now);
    }
  }
}

void DataPlane::send_control_now(Link& link, ByteView tlvs, std::uint64_t now) {
  if (!link.session.can_send() || link.peer.empty()) return;
  std::array<std::uint8_t, kOverhead + kControlFrameMax> packet;
  std::memcpy(packet.data() + kHeaderSize, tlvs.data(), tlvs.size());
  const MutableBytes whole(packet.data(), kOverhead + tlvs.size());
  if (!link.session.seal(FrameType::control, whole, now)) return;
  if (::sendto(encrypted_.get(), whole.data(), whole.size(), MSG_DONTWAIT | MSG_NOSIGNAL, link.peer.get(),
               link.peer.size) >= 0) {
    link.counters.enc_tx_packets.add();
    link.counters.enc_tx_bytes.add(whole.size());
  } else {
    link.counters.enc_dropped_send.add();
  }
}

void DataPlane::tick(std::uint64_t now) {
  for (std::size_t i = 0; i < links_.size(); ++i) tick_link(i, now);
}

void DataPlane::tick_link(std::size_t index, std::uint64_t now) {
  auto& link = *links_[index];
  bool notify = link.session.tick(now);
  if (notify) refresh_lookup(index);
  const bool degraded = link.session.current() && link.session.degraded(now);
  notify = notify || degraded != link.was_degraded;
  link.was_degraded = degraded;

  std::array<std::uint8_t, 256> tlvs{};
  std::size_t used = 0;
  if (now >= link.next_report_ns) {
    link.next_report_ns = now + to_ns(kReportEvery);
    link.next_probe_ns = now + to_ns(kProbeAfterReport);
    link.local = link.estimator.report(now);
    for (std::size_t i = 0; i < kDropKinds; ++i) link.local.drops[i] = link.counters.drops[i].get();
    used = *append_control(tlvs, used, link.local);
  } else if (now >=
             link.next_probe_ns) {  // half-way to the next report, so that also an idle link is heard twice a second
    link.next_probe_ns = link.next_report_ns + to_ns(kProbeAfterReport);
    link.probes.open_id = link.probes.next_id++;
    link.probes.open_t1 = now_ns();
    used = *append_control(tlvs, used, Probe{link.probes.open_id, link.probes.open_t1});
  } else if (now - link.session.last_sent_ns() >= to_ns(config_.keepalive_s)) {
    used = *append_control(tlvs, used, Keepalive{});
  }
  if (used != 0) send_control_now(link, ByteView(tlvs).first(used), now);
  if (notify)
    changed(index, now);
  else
    link.publish(now);
}

void DataPlane::changed(std::size_t index, std::uint64_t now) {
  auto& link = *links_[index];
  link.was_degraded = link.session.current() && link.session.degraded(now);
  link.publish(now);
  if (hooks_.changed) hooks_.changed(index);
}

bool DataPlane::install(std::size_t index, SessionKeys keys, const SessionId& prev, const SockAddr& peer) {
  std::promise<void> installed;
  auto done = installed.get_future();
  auto shared = std::make_shared<SessionKeys>(std::move(keys));
  const bool accepted = post([&, shared] {
    auto& link = *links_[index];
    const auto now = now_ns();
    const auto epoch = shared->epoch;
    try {
      link.session.install(std::move(*shared), prev, now);
    } catch (...) {
      installed.set_exception(std::current_exception());
      return;
    }
    refresh_lookup(index);
    link.closed_by_peer = false;
    if (config_.role == Role::drone) {
      link.peer = peer;
      // At once, so that the gcs switches even when no telemetry flows.
      std::array<std::uint8_t, 16> tlvs{};
      auto used = append_control(tlvs, 0, Switched{epoch});
      used = append_control(tlvs, *used, Keepalive{});
      send_control_now(link, ByteView(tlvs).first(*used), now);
    }
    changed(index, now);
    installed.set_value();
  });
  if (!accepted) return false;
  // The data thread takes about as long as falling asleep and being woken would; a handshake waits for this.
  for (const auto until = now_ns() + kInstallNs;
       done.wait_for(std::chrono::seconds(0)) != std::future_status::ready && now_ns() < until;)
    std::this_thread::yield();
  done.get();
  return true;
}

void DataPlane::send_control(std::size_t index, std::vector<std::uint8_t> tlvs) {
  post([this, index, tlvs = std::move(tlvs)] { send_control_now(*links_[index], tlvs, now_ns()); });
}

}  // namespace pqcmav
