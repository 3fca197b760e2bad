// SPDX-License-Identifier: Apache-2.0
#include "net/plain_stream.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

namespace pqcmav {
namespace {

constexpr std::size_t kReadBytes = 4096;
constexpr int kReadsAtOnce = 8;  // then the other streams have their turn

/// A method, a space and a target, as RFC 9112 section 3 has it. MAVLink begins with a byte above 0x7f.
bool is_http(ByteView bytes) noexcept {
  const auto text = as_text(bytes.first(std::min<std::size_t>(bytes.size(), 16)));
  const auto space = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  return space != std::string_view::npos && space >= 3 && text[space] == ' ';
}

}  // namespace

void PlainStream::open(Fd fd, std::uint64_t tag) {
  hub_.watch().add(fd.get(), tag);
  fd_ = std::move(fd);
  tag_ = tag;
  watched_for_room_ = false;
}

bool PlainStream::read(std::uint64_t now) {
  bool alive = true;
  for (int i = 0; i < kReadsAtOnce; ++i) {
    std::array<std::uint8_t, kReadBytes> bytes;
    const auto got = ::read(fd_.get(), bytes.data(), bytes.size());
    if (got <= 0) {
      alive = got < 0 && try_again(errno);
      break;
    }
    const auto size = static_cast<std::size_t>(got);
    if (std::exchange(begins_, false) && is_http(ByteView(bytes).first(size))) {
      counters_.refused.add();
      return false;
    }
    framer_.feed(ByteView(bytes).first(size), now, [&](ByteView frame) { hub_.take(channel_, frame, true); });
    if (size < bytes.size()) break;
  }
  hub_.flush_streams(counters_);
  count_skipped();
  return alive;
}

void PlainStream::send(ByteView datagram) {
  if (is_open())
    counters_.dropped.add(out_.push(datagram));
  else
    counters_.dropped.add();
}

bool PlainStream::flush() {
  if (!is_open()) return true;
  while (!out_.empty()) {
    const auto next = out_.next();
    const auto taken = ::write(fd_.get(), next.data(), next.size());
    if (taken < 0 && !try_again(errno)) return false;
    if (taken <= 0) break;
    counters_.tx_bytes.add(static_cast<std::uint64_t>(taken));
    counters_.tx_packets.add(out_.taken(static_cast<std::size_t>(taken)));
  }
  if (watched_for_room_ == out_.empty()) {
    watched_for_room_ = !out_.empty();
    hub_.watch().change(fd_.get(), tag_, watched_for_room_);
  }
  return true;
}

void PlainStream::on_time(std::uint64_t now) {
  framer_.poll(now, [&](ByteView frame) { hub_.take(channel_, frame, true); });
  hub_.flush_streams(counters_);
  count_skipped();
}

Fd PlainStream::close() noexcept {
  if (fd_) hub_.watch().remove(fd_.get());
  counters_.dropped.add(out_.clear());
  framer_.reset();
  count_skipped();
  return std::move(fd_);
}

void PlainStream::count_skipped() noexcept {
  counters_.skipped.add(framer_.skipped() - skipped_);
  skipped_ = framer_.skipped();
}

}  // namespace pqcmav
