// SPDX-License-Identifier: Apache-2.0
#include "crypto/wipe_stack.hpp"

#include <alloca.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "fd.hpp"
#include "thread.hpp"

namespace pqcmav {
namespace {

constexpr unsigned char kMark = 0xA7;
constexpr std::size_t kMiB = std::size_t{1} << 20;

/// Fills the stack down to `depth` below the caller and says where.
[[gnu::noinline]] std::uintptr_t fill(std::size_t depth) {
  auto* room = static_cast<volatile unsigned char*>(alloca(depth));
  for (std::size_t i = 0; i < depth; ++i) room[i] = kMark;
  return reinterpret_cast<std::uintptr_t>(room);
}

/// How many bytes of a part of the stack that nobody uses still hold the mark. Read through the kernel: the compiler
/// and the sanitizers know that it is not ours to look at.
[[gnu::noinline]] std::size_t marks_in(std::uintptr_t from, std::size_t size) {
  const Fd memory(::open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
  std::vector<unsigned char> copy(size);
  if (::pread(memory.get(), copy.data(), size, static_cast<off_t>(from)) != static_cast<ssize_t>(size)) return size;
  // Single bytes of that value are chance; four in a row are not.
  std::size_t found = 0;
  for (std::size_t i = 0; i + 4 <= size; ++i) {
    if (copy[i] == kMark && copy[i + 1] == kMark && copy[i + 2] == kMark && copy[i + 3] == kMark) ++found;
  }
  return found;
}

[[maybe_unused]] long minor_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

void wipes_down_to(std::size_t depth) {
  BigThread([depth] {
    const auto lowest = fill(depth);
    // The frames of what is called here lie in the first few KiB.
    ASSERT_GT(marks_in(lowest, depth), depth / 2) << "the test sees nothing";
    fill(depth);
    wipe_stack();
    EXPECT_EQ(marks_in(lowest, depth), 0U);
  }).join();
}

TEST(WipeStack, ShallowUse) { wipes_down_to(40'000); }
TEST(WipeStack, TheEdgeOfWhatIsKept) { wipes_down_to((64 << 10) + 10'000); }
TEST(WipeStack, MoreThanIsKept) { wipes_down_to((256 << 10) + 10'000); }
TEST(WipeStack, DeepUse) { wipes_down_to(10 * kMiB); }
TEST(WipeStack, NearlyTheWholeStack) { wipes_down_to(BigThread::kStackBytes - kMiB); }

TEST(WipeStack, DeepUseThatLeftGaps) {
  BigThread([] {
    const auto lowest = fill(1);  // where the stack stands
    auto* deep = reinterpret_cast<volatile unsigned char*>(lowest - 30 * kMiB);
    const Fd memory(::open("/proc/self/mem", O_RDWR | O_CLOEXEC));
    const std::vector<unsigned char> secret(64, kMark);
    const auto at = reinterpret_cast<std::uintptr_t>(deep);
    ASSERT_EQ(::pwrite(memory.get(), secret.data(), secret.size(), static_cast<off_t>(at)), 64);
    ASSERT_GT(marks_in(at, 64), 0U);
    wipe_stack();
    EXPECT_EQ(marks_in(at, 64), 0U);
  }).join();
}

TEST(WipeStack, TheCallersOwnVariablesStay) {
  BigThread([] {
    unsigned char mine[4096];
    std::memset(mine, kMark, sizeof mine);
    for (int i = 0; i < 3; ++i) {
      wipe_stack();
      for (const auto byte : mine) ASSERT_EQ(byte, kMark);
    }
  }).join();
}

// ThreadSanitizer has pages of its own for each one that is touched, and its checks run on this stack.
#if !defined(__SANITIZE_THREAD__)
TEST(WipeStack, CostsNoPagesOnceItHasRun) {
  BigThread([] {
    wipe_stack();
    const auto before = minor_faults();
    for (int i = 0; i < 100; ++i) wipe_stack();
    EXPECT_LT(minor_faults() - before, 100);
  }).join();
}

TEST(WipeStack, OnTheMainThreadTheNearPart) {
  const auto lowest = fill(100'000);
  wipe_stack();
  EXPECT_EQ(marks_in(lowest, 100'000), 0U);
}
#endif

}  // namespace
}  // namespace pqcmav
