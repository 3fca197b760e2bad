// SPDX-License-Identifier: Apache-2.0
// MAVLink messages with checksums, as a stream carries them, and a pseudo terminal that stands for a serial port.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <string>

#include "bytes.hpp"
#include "fd.hpp"
#include "mavlink_bytes.hpp"
#include "route/x25.hpp"

namespace pqcmav::test {

/// A message of mavlink_bytes.hpp with the checksum that its CRC_EXTRA makes.
inline Bytes summed(Bytes message, std::uint8_t extra = 0x5a) {
  const auto end = (message[0] == 0xfd ? 10u : 6u) + message[1];
  const auto crc = x25_add(x25(ByteView(message).subspan(1, end - 1)), extra);
  message[end] = static_cast<std::uint8_t>(crc);
  message[end + 1] = static_cast<std::uint8_t>(crc >> 8);
  return message;
}

/// A message with a payload of any bytes.
inline Bytes any_message(std::mt19937& random) {
  const auto at = MavlinkAt{static_cast<std::uint8_t>(1 + random() % 255), static_cast<std::uint8_t>(random()),
                            static_cast<std::uint8_t>(random())};
  const auto size = random() % 256;
  const bool second = random() % 2 == 0;
  auto out = second ? mavlink2(random() % 0x1000000, size, at, random() % 2 == 0)
                    : mavlink1(static_cast<std::uint8_t>(random()), size, at);
  for (std::size_t i = second ? 10 : 6; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>(random());
  return summed(out, static_cast<std::uint8_t>(random()));
}

/// The device's side of a serial port. `path` is where a program finds the port, a link that may come and go.
class FakePort {
 public:
  explicit FakePort(std::filesystem::path path) : path_(std::move(path)) { plug(); }
  ~FakePort() { unplug(); }
  FakePort(const FakePort&) = delete;
  FakePort& operator=(const FakePort&) = delete;

  void plug() {
    device_ = Fd(::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
    ASSERT_TRUE(device_);
    ASSERT_EQ(::grantpt(device_.get()), 0);
    ASSERT_EQ(::unlockpt(device_.get()), 0);
    char name[64];
    ASSERT_EQ(::ptsname_r(device_.get(), name, sizeof name), 0);
    terminal_ = name;
    std::filesystem::create_symlink(terminal_, path_);
  }
  void unplug() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
    device_.reset();
  }
  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] const std::string& terminal() const { return terminal_; }

  void send(ByteView bytes) const {
    while (!bytes.empty()) {
      const auto taken = ::write(device_.get(), bytes.data(), bytes.size());
      if (taken > 0) {
        bytes = bytes.subspan(static_cast<std::size_t>(taken));
      } else {
        pollfd wait{device_.get(), POLLOUT, 0};
        ASSERT_EQ(::poll(&wait, 1, 10'000), 1) << "the port takes nothing";
      }
    }
  }
  /// So many bytes, or what came in time.
  [[nodiscard]] Bytes receive(std::size_t size, std::chrono::milliseconds limit = std::chrono::seconds(10)) const {
    Bytes out;
    while (out.size() < size) {
      pollfd wait{device_.get(), POLLIN, 0};
      if (::poll(&wait, 1, static_cast<int>(limit.count())) != 1) break;
      ByteArray<4096> room;
      const auto got = ::read(device_.get(), room.data(), std::min(room.size(), size - out.size()));
      if (got <= 0) break;
      append(out, ByteView(room).first(static_cast<std::size_t>(got)));
    }
    return out;
  }

 private:
  std::filesystem::path path_;
  std::string terminal_;
  Fd device_;
};

}  // namespace pqcmav::test
