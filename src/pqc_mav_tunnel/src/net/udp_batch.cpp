// SPDX-License-Identifier: Apache-2.0
#include "net/udp_batch.hpp"

#include <netinet/udp.h>

#include <cerrno>
#include <cstring>

namespace pqcmav {
namespace {

/// Writes control messages into a space that is large enough for them.
class ControlWriter {
 public:
  ControlWriter(msghdr& header, ControlSpace& space) noexcept : header_(header), space_(space) {}

  template <typename Value>
  void add(int level, int type, const Value& value) noexcept {
    cmsghdr head{};
    head.cmsg_len = CMSG_LEN(sizeof value);
    head.cmsg_level = level;
    head.cmsg_type = type;
    auto* at = space_.bytes + header_.msg_controllen;
    std::memcpy(at, &head, sizeof head);
    std::memcpy(at + CMSG_LEN(0), &value, sizeof value);
    header_.msg_control = space_.bytes;
    header_.msg_controllen += CMSG_SPACE(sizeof value);
  }
  /// The address to leave from; its interface is the routing table's choice.
  void add_local(const SockAddr& to) noexcept {
    if (to.family() == AF_INET) {
      in_pktinfo info{};
      std::memcpy(&info.ipi_spec_dst, to.local.data() + 12, 4);
      add(IPPROTO_IP, IP_PKTINFO, info);
    } else {
      in6_pktinfo info{};
      std::memcpy(&info.ipi6_addr, to.local.data(), 16);
      add(IPPROTO_IPV6, IPV6_PKTINFO, info);
    }
  }

 private:
  msghdr& header_;
  ControlSpace& space_;
};

}  // namespace

void read_local(const cmsghdr* message, ByteArray<16>& local) noexcept {
  if (message->cmsg_level == IPPROTO_IP && message->cmsg_type == IP_PKTINFO) {
    in_pktinfo info{};
    std::memcpy(&info, CMSG_DATA(message), sizeof info);
    local[10] = local[11] = 0xff;
    std::memcpy(local.data() + 12, &info.ipi_spec_dst, 4);
  } else if (message->cmsg_level == IPPROTO_IPV6 && message->cmsg_type == IPV6_PKTINFO) {
    in6_pktinfo info{};
    std::memcpy(&info, CMSG_DATA(message), sizeof info);
    std::memcpy(local.data(), &info.ipi6_addr, 16);
  }
}

bool send_one(int fd, ByteView datagram, const SockAddr& to) noexcept {
  if (!to.has_local())
    return ::sendto(fd, datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_NOSIGNAL, to.get(), to.size) >= 0;
  iovec vector{const_cast<std::uint8_t*>(datagram.data()), datagram.size()};  // sendmsg does not write to it
  msghdr header{};
  header.msg_name = const_cast<sockaddr*>(to.get());
  header.msg_namelen = to.size;
  header.msg_iov = &vector;
  header.msg_iovlen = 1;
  ControlSpace space;
  ControlWriter(header, space).add_local(to);
  return ::sendmsg(fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

UdpReceiver::UdpReceiver(std::size_t slots, std::size_t capacity, std::size_t headroom, std::size_t tailroom,
                         bool names)
    : headroom_(headroom),
      tailroom_(tailroom),
      stride_((headroom + capacity + tailroom + 63) / 64 * 64),
      memory_(new std::uint8_t[slots * stride_]),
      headers_(slots),
      vectors_(slots),
      sources_(names ? slots : 0),
      controls_(slots) {
  for (std::size_t i = 0; i < slots; ++i) {
    vectors_[i] = iovec{memory_.get() + i * stride_ + headroom_, capacity};
    auto& header = headers_[i].msg_hdr;
    header = msghdr{};
    header.msg_iov = &vectors_[i];
    header.msg_iovlen = 1;
    if (names) header.msg_name = sources_[i].get();
    header.msg_control = controls_[i].bytes;
  }
}

std::size_t UdpReceiver::receive(int fd) noexcept {
  for (std::size_t i = 0; i < headers_.size(); ++i) {
    auto& header = headers_[i].msg_hdr;
    header.msg_controllen = sizeof(ControlSpace);
    if (header.msg_name != nullptr) header.msg_namelen = sizeof(SockAddr::Storage);
  }
  const int got = ::recvmmsg(fd, headers_.data(), static_cast<unsigned>(headers_.size()), MSG_DONTWAIT, nullptr);
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

UdpReceiver::Slot UdpReceiver::slot(std::size_t i) noexcept {
  auto& message = headers_[i];
  std::size_t segment = message.msg_len;
  for (auto* c = CMSG_FIRSTHDR(&message.msg_hdr); c != nullptr; c = CMSG_NXTHDR(&message.msg_hdr, c)) {
    if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_GRO) {
      int size = 0;
      std::memcpy(&size, CMSG_DATA(c), sizeof size);
      if (size > 0) segment = static_cast<std::size_t>(size);
    }
  }
  return {{static_cast<std::uint8_t*>(vectors_[i].iov_base), message.msg_len},
          segment,
          (message.msg_hdr.msg_flags & MSG_TRUNC) != 0};
}

MutableBytes UdpReceiver::with_room(std::size_t i) noexcept {
  return {memory_.get() + i * stride_, headroom_ + headers_[i].msg_len + tailroom_};
}

const SockAddr& UdpReceiver::source(std::size_t i) noexcept {
  auto& header = headers_[i].msg_hdr;
  auto& out = sources_[i];
  out.size = header.msg_namelen;
  out.local = {};
  for (auto* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) read_local(c, out.local);
  return out;
}

UdpSender::UdpSender(bool gso) noexcept : gso_(gso) {}

/// Splits what was added into messages: runs of equal size (the last of a run may be shorter), or one each without GSO.
std::size_t UdpSender::plan_runs() noexcept {
  std::size_t runs = 0;
  for (std::size_t i = 0; i < count_;) {
    const auto size = vectors_[i].iov_len;
    std::size_t n = 1, bytes = size;
    while (gso_ && size > 0 && i + n < count_ && n < kMaxSegments) {
      const auto next = vectors_[i + n].iov_len;
      if (next == 0 || next > size || bytes + next > kMaxRunBytes) break;
      bytes += next;
      ++n;
      if (next < size) break;
    }
    runs_[runs++] = Run{i, n};
    i += n;
  }
  return runs;
}

void UdpSender::prepare(std::size_t index, const Run& run, const SockAddr& to) noexcept {
  auto& header = headers_[index].msg_hdr;
  header = msghdr{};
  header.msg_name = const_cast<sockaddr*>(to.get());  // sendmsg does not write to it
  header.msg_namelen = to.size;
  header.msg_iov = &vectors_[run.first];
  header.msg_iovlen = run.count;
  ControlWriter control(header, controls_[index]);
  if (run.count > 1) control.add(SOL_UDP, UDP_SEGMENT, static_cast<std::uint16_t>(vectors_[run.first].iov_len));
  if (to.has_local()) control.add_local(to);
}

void UdpSender::account(const Run& run, Sent& out) const noexcept {
  out.packets += run.count;
  for (std::size_t i = 0; i < run.count; ++i) out.bytes += vectors_[run.first + i].iov_len;
}

/// A run that the kernel refused as GSO (a path narrower than the segment, a device without checksum offload), one by
/// one.
void UdpSender::send_single(int fd, const SockAddr& to, const Run& run, Sent& out) noexcept {
  for (std::size_t i = 0; i < run.count; ++i) {
    const auto& vector = vectors_[run.first + i];
    if (send_one(fd, {static_cast<const std::uint8_t*>(vector.iov_base), vector.iov_len}, to)) {
      ++out.packets;
      out.bytes += vector.iov_len;
    } else {
      ++out.dropped;
    }
  }
}

UdpSender::Sent UdpSender::flush(int fd, const SockAddr& to) noexcept {
  Sent out;
  const auto runs = plan_runs();
  for (std::size_t i = 0; i < runs; ++i) prepare(i, runs_[i], to);
  for (std::size_t done = 0; done < runs;) {
    const int sent =
        runs - done == 1
            ? (::sendmsg(fd, &headers_[done].msg_hdr, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 ? 1 : -1)
            : ::sendmmsg(fd, &headers_[done], static_cast<unsigned>(runs - done), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
      for (int i = 0; i < sent; ++i) account(runs_[done + static_cast<std::size_t>(i)], out);
      done += static_cast<std::size_t>(sent);
      continue;
    }
    if (errno == EINTR) continue;
    const auto& run = runs_[done];
    if (run.count > 1 && (errno == EINVAL || errno == EIO || errno == EMSGSIZE || errno == EOPNOTSUPP)) {
      if (errno == EIO || errno == EOPNOTSUPP) gso_ = false;  // this device will not do it for any run
      send_single(fd, to, run, out);
    } else {
      out.dropped += run.count;
    }
    ++done;
  }
  count_ = 0;
  return out;
}

}  // namespace pqcmav
