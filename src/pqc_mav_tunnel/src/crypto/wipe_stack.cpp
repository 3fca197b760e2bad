// SPDX-License-Identifier: Apache-2.0
#include "crypto/wipe_stack.hpp"

#include <alloca.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace pqcmav {

namespace {

/// Wiped at every call and kept. What is deeper goes back to the system: three threads of a gcs and one of a drone hold
/// this much all the time, and to get the rest again costs a handshake some 30 page faults.
constexpr std::size_t kKept = std::size_t{64} << 10;
/// Wiped on a stack of which nobody knows the end.
constexpr std::size_t kKeptOfUnknown = std::size_t{256} << 10;

/// The lowest address of this thread's stack; 0 on the main thread, whose stack has no fixed end, and where unknown.
std::uintptr_t lowest_of_stack() noexcept {
  if (::getpid() == ::gettid()) return 0;
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return 0;
  void* lowest = nullptr;
  std::size_t size = 0;
  const int code = ::pthread_attr_getstack(&attributes, &lowest, &size);
  ::pthread_attr_destroy(&attributes);
  return code == 0 ? reinterpret_cast<std::uintptr_t>(lowest) : 0;
}

/// Wipes what of [from, to) has ever been written to, without touching (and so allocating) the rest.
void wipe_deep(std::uintptr_t from, std::uintptr_t to, std::uintptr_t page) noexcept {
  std::array<unsigned char, 1024> used{};  // zeroed: it must not carry anything over itself
  for (auto at = from; at < to;) {
    const auto pages = std::min<std::uintptr_t>((to - at) / page, used.size());
    const auto size = pages * page;
    if (::mincore(reinterpret_cast<void*>(at), size, used.data()) == 0) {
      for (std::uintptr_t i = 0; i < pages; ++i) {
        if ((used[i] & 1) != 0) OPENSSL_cleanse(reinterpret_cast<void*>(at + i * page), page);
      }
    }
    at += size;
  }
  // Also drops what was swapped out, which does not count as used above. The last page is wipe_near()'s next time.
  ::madvise(reinterpret_cast<void*>(from), to - from - page, MADV_DONTNEED);
}

/// Reaches from its caller's frame down to just below `lowest`. Not inlined, lest the caller keep the room.
[[gnu::noinline, gnu::no_sanitize_address]] void wipe_near(std::uintptr_t lowest) noexcept {
  const auto size = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - lowest;
  OPENSSL_cleanse(alloca(size), size);
}

}  // namespace

// AddressSanitizer would put zones around what alloca() gives and into these frames, which stay as they were.
[[gnu::no_sanitize_address]] void wipe_stack() noexcept {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto lowest = (lowest_of_stack() + page - 1) / page * page;
  const auto near = (here - (lowest != 0 ? kKept : kKeptOfUnknown)) / page * page;
  if (lowest != 0 && lowest < near) wipe_deep(lowest, near, page);
  wipe_near(near);
}

}  // namespace pqcmav
