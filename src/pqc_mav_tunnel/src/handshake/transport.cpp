// SPDX-License-Identifier: Apache-2.0
#include "handshake/transport.hpp"

#include <utility>

#include "handshake/transport_impl.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kFirstTimeoutDrone = 200'000'000, kFirstTimeoutGcs = 600'000'000;
constexpr std::uint64_t kWireTimeoutDrone = 800'000'000, kWireTimeoutGcs = 1'500'000'000;
constexpr std::uint64_t kRetriesApart = 5'000'000, kSameRetryApart = 50'000'000;
constexpr std::uint32_t kHelloCopies = 3, kHelloCopiesProven = 2;

std::uint64_t first_timeout(const TransportOptions& options) noexcept {
  const bool drone = options.side == HandshakeSide::drone;
  if (options.wire_ns != 0 && !options.in_session) return drone ? kWireTimeoutDrone : kWireTimeoutGcs;
  return drone ? kFirstTimeoutDrone : kFirstTimeoutGcs;
}

}  // namespace

Transport::Impl::Impl(const TransportOptions& chosen, FragmentKeys fragment_keys)
    : options(chosen),
      keys(std::move(fragment_keys)),
      ledger(chosen.in_session || chosen.side == HandshakeSide::drone),
      rtt(first_timeout(chosen), kWireTimeoutParts * chosen.wire_ns),
      log(chosen.first_packet) {
  if (!options.in_session) return;
  lossy = options.known.lossy;
  if (!options.known.round_trip) return;
  auto informed = rtt;
  informed.sample(*options.known.round_trip);
  if (!lossy || informed.timeout(0) < rtt.timeout(0)) rtt = informed;
}

Transport::Transport(const TransportOptions& options, FragmentKeys keys)
    : impl_(std::make_unique<Impl>(options, std::move(keys))) {}
Transport::~Transport() = default;
Transport::Transport(Transport&&) noexcept = default;

void Transport::start_hello(Bytes m1, std::size_t need, bool proven, std::uint64_t now) {
  const auto m = kDatagramLeast + kFragmentHeaderSize + m1.size();
  const bool plain = proven || impl_->options.wire_ns != 0;  // nothing has to pay for M2
  const auto sizes =
      plain ? HelloSchedule::Sizes{0, 0} : HelloSchedule::padded_sizes(m, need, impl_->options.datagram_limit);
  impl_->start_hello(std::move(m1), plain ? kHelloCopiesProven : kHelloCopies, sizes, now);
}

void Transport::set_cookie(const Cookie& cookie, std::uint64_t now) {
  auto& impl = *impl_;
  if (impl.hello_frame.empty() || now < impl.retried_at + (impl.cookie == cookie ? kSameRetryApart : kRetriesApart))
    return;
  impl.cookie = cookie;
  impl.retried_at = now;
  if (impl.hello)
    impl.hello->start(2, {0, 0}, now, impl.rtt);
  else
    impl.send_hello(0, now);
}

void Transport::hold_hello(std::uint64_t until) noexcept {
  if (impl_->hello) impl_->hello->hold(until);
}

void Transport::start(Bytes frame, std::uint64_t now) { impl_->start(std::move(frame), now); }

void Transport::expect(std::vector<FrameLimits> allowed) {
  impl_->allowed = std::move(allowed);
  for (const auto& limits : impl_->allowed) impl_->done &= ~(std::uint64_t{1} << static_cast<unsigned>(limits.type));
}

Transport::Took Transport::on_datagram(ByteView datagram, PathIndex path, std::uint64_t now) {
  return impl_->on_datagram(datagram, path, now);
}

std::optional<Bytes> Transport::take_message() { return std::exchange(impl_->ready, std::nullopt); }

std::optional<Transport::Outgoing> Transport::poll(std::uint64_t now) {
  if (impl_->out.empty()) impl_->work(now);
  if (impl_->out.empty()) return std::nullopt;
  auto next = std::move(impl_->out.front());
  impl_->out.pop_front();
  return next;
}

std::uint64_t Transport::deadline() const noexcept { return impl_->deadline(); }
void Transport::answered_by(PathIndex path) noexcept { impl_->answered_by(path); }
PathIndex Transport::join(std::size_t used) { return impl_->join(used); }
void Transport::lift() noexcept { impl_->lift(); }
bool Transport::has_answered(PathIndex path) const noexcept { return impl_->ledger.has_answered(path); }
bool Transport::answered() const noexcept { return impl_->ledger.any_answered(); }
std::uint64_t Transport::last_progress() const noexcept { return impl_->last_progress; }
bool Transport::arriving() const noexcept { return impl_->arriving; }
std::uint32_t Transport::stalls() const noexcept {
  if (impl_->hello) return impl_->hello->timeouts();
  if (impl_->incoming) return impl_->ack_timer.in_vain();
  return std::max(impl_->repeats, impl_->sending() || impl_->unanswered() ? impl_->timeouts : 0);
}
void Transport::widen() noexcept {
  if (std::exchange(impl_->wide, true)) return;
  impl_->options.known.window = KnownLink::kWindowMost;
  if (impl_->window) impl_->window->widen(KnownLink::kWindowMost);
  impl_->more = true;
}
bool Transport::lossy() const noexcept { return impl_->lossy; }
std::optional<std::uint64_t> Transport::srtt() const noexcept { return impl_->rtt.srtt(); }
std::optional<std::uint64_t> Transport::full_round_trip() const noexcept { return impl_->full_round_trip; }
const Transport::Counts& Transport::counts() const noexcept { return impl_->counts; }

void Transport::linger(Bytes last) {
  auto& impl = *impl_;
  impl.last = std::move(last);
  impl.hello.reset();
  impl.hello_frame = {};
  impl.outgoing.reset();
  impl.copies.clear();
  impl.allowed.clear();
  impl.incoming.reset();
  impl.ready.reset();
  impl.ack_timer.stop();
  impl.complete_due = kNever;
}

}  // namespace pqcmav
