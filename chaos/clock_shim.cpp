// SPDX-License-Identifier: Apache-2.0
// Steps the wall clock of one process: preloaded, it adds an offset to every CLOCK_REALTIME reading of the C library.
//
// The offset (int64, ns) is the first thing in the file PQCMAV_CLOCK_FILE names; the laboratory changes it while the
// process runs. The machine's own clock is never touched. The monotonic clocks pass unchanged, as they do when a real
// clock is stepped.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace {

using Offset = std::atomic<std::int64_t>;
static_assert(Offset::is_always_lock_free && sizeof(Offset) == 8);

constexpr std::int64_t kNs = 1'000'000'000;

const Offset* shared_offset() {
  static const Offset* const mapped = [] {
    const char* path = std::getenv("PQCMAV_CLOCK_FILE");
    const int fd = path != nullptr ? ::open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return static_cast<const Offset*>(nullptr);
    void* memory = ::mmap(nullptr, sizeof(Offset), PROT_READ, MAP_SHARED, fd, 0);
    ::close(fd);
    return memory == MAP_FAILED ? nullptr : static_cast<const Offset*>(memory);
  }();
  return mapped;
}

void shift(timespec* time) {
  const auto* offset = shared_offset();
  if (offset == nullptr) return;
  const auto ns =
      static_cast<std::int64_t>(time->tv_sec) * kNs + time->tv_nsec + offset->load(std::memory_order_relaxed);
  time->tv_sec = static_cast<time_t>(ns / kNs);
  time->tv_nsec = static_cast<long>(ns % kNs);
}

using ClockGettime = int (*)(clockid_t, timespec*);

int read_clock(clockid_t clock, timespec* out) {
  static const auto real = reinterpret_cast<ClockGettime>(::dlsym(RTLD_NEXT, "clock_gettime"));
  const int result = real(clock, out);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) shift(out);
  return result;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, timespec* out) noexcept {
  return read_clock(clock, out);
}

__attribute__((visibility("default"))) int gettimeofday(timeval* out, void*) noexcept {
  timespec now{};
  const int result = read_clock(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1000;
  return result;
}

__attribute__((visibility("default"))) time_t time(time_t* out) noexcept {
  timespec now{};
  read_clock(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

__attribute__((visibility("default"))) int timespec_get(timespec* out, int base) noexcept {
  if (base != TIME_UTC) return 0;
  return read_clock(CLOCK_REALTIME, out) == 0 ? base : 0;
}

}  // extern "C"
