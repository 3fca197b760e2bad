// SPDX-License-Identifier: Apache-2.0
// File descriptors with an owner, and the event descriptor (eventfd) by which one thread wakes another.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

namespace pqcmav {

/// Owns one descriptor.
class Fd {
 public:
  Fd() noexcept = default;
  explicit Fd(int fd) noexcept : fd_(fd) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Fd() { reset(); }
  void reset() noexcept {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  [[nodiscard]] int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// Wakes who waits for the event descriptor; how often it was rung before is of no matter.
inline void ring(const Fd& event) noexcept {
  const std::uint64_t one = 1;
  (void)!::write(event.get(), &one, sizeof one);
}
/// Makes an event descriptor or a timer wait again.
inline void drain(const Fd& event) noexcept {
  std::uint64_t value = 0;
  (void)!::read(event.get(), &value, sizeof value);
}

/// Of a non-blocking descriptor: not now, and nothing is wrong.
inline bool try_again(int error) noexcept { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace pqcmav
