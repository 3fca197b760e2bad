// SPDX-License-Identifier: Apache-2.0
// Does the time that an operation takes depend on a secret? tools/constant_time.py runs this and makes a page of it.
//   constant_time list                     one line per subject: group, a tab, name
//   valgrind ... constant_time memcheck NAME   runs one with its secrets undefined; valgrind reports
//   constant_time timing SECONDS NAME      two classes of inputs in turn; prints JSON
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string_view>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "constant_time/marks.hpp"
#include "constant_time/subject.hpp"
#include "constant_time/welch.hpp"
#include "crypto/kdf.hpp"
#include "text.hpp"

namespace {

using namespace pqcmav::constant_time;

std::vector<Subject> subjects() {
  std::vector<Subject> out;
  for (auto&& each : {engine_subjects(), openssl_subjects(), liboqs_subjects(), leaks()})
    out.insert(out.end(), each.begin(), each.end());
  return out;
}

/// Cycles of the time-stamp counter where there is one, else nanoseconds.
std::uint64_t now() {
#if defined(__x86_64__)
  unsigned processor = 0;
  _mm_lfence();
  const auto out = __rdtscp(&processor);
  _mm_lfence();
  return out;
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// Until what was written last has reached the cache, and the branches that chose the class have left the predictors'
/// history: neither says anything about secrets.
void settle() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (int i = 0; i < 2000; ++i) keep(i);
}

int memcheck(const Subject& subject) {
  if (!under_memcheck()) {
    std::fputs("constant_time: memcheck needs valgrind, here and when this was compiled (its header memcheck.h)\n",
               stderr);
    return 2;
  }
  for (const auto which : {Class::fixed, Class::varied}) {
    subject.draw(which);
    const auto secrets = subject.secrets();
    for (const auto bytes : secrets) make_secret(bytes);
    subject.run();
    for (const auto bytes : secrets) make_public(bytes);
  }
  return 0;
}

/// For `seconds`, or until t leaves no doubt, but no less than some hundred times.
int timing(const Subject& subject, double seconds) {
  constexpr double kNoDoubt = 100;
  constexpr std::size_t kCalibration = 200;
  Judge judge(kCalibration);
  subject.draw(Class::varied);  // what is only made once is made now
  const auto began = std::chrono::steady_clock::now();
  double took = 0;
  for (int i = 0; i < 20; ++i) {  // warms up
    subject.draw(Class::fixed);
    subject.run();
    took = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (took > seconds / 4) break;
  }
  while (took < seconds && (judge.count() < 1000 || judge.greatest_t() < kNoDoubt)) {
    // A run of inputs whose classes nobody can foresee, not the processor's predictors either.
    pqcmav::ByteArray<64> coins;
    pqcmav::random_bytes(coins);
    for (const auto coin : coins) {
      const bool second = (coin & 1) != 0;
      subject.draw(static_cast<Class>(coin & 1));
      settle();
      const auto start = now();
      subject.run();
      judge.add(second, static_cast<double>(now() - start));
      took = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      if (took >= seconds) break;
    }
  }
  std::printf(R"({"n": %zu, "t": %.2f, "fixed": %.0f, "varied": %.0f, "seconds": %.2f})"
              "\n",
              judge.count(), judge.greatest_t(), judge.mean(false), judge.mean(true), took);
  return 0;
}

int usage() {
  std::fputs("usage: constant_time list | memcheck NAME | timing SECONDS NAME\n", stderr);
  return 2;
}

}  // namespace

void pqcmav::constant_time::draw_bytes(MutableBytes out, Class which) {
  random_bytes(out);
  const auto varied = mask_if(which, Class::varied);
  for (auto& byte : out) byte = static_cast<std::uint8_t>((byte & varied) | (0x5a & ~varied));
}

int main(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  double seconds = 0;
  if (verb == "timing") {
    if (argc != 4) return usage();
    seconds = pqcmav::number_of<double>(argv[2]).value_or(0);
    if (!(seconds > 0 && seconds < 3600)) return usage();
  } else if (!(verb == "list" && argc == 2) && !(verb == "memcheck" && argc == 3)) {
    return usage();
  }
  try {
    for (const auto& subject : subjects()) {
      if (verb == "list") std::printf("%s\t%s\t%d\n", subject.group.c_str(), subject.name.c_str(), subject.timed);
      if (verb != "list" && subject.name == argv[argc - 1])
        return verb == "memcheck" ? memcheck(subject) : timing(subject, seconds);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "constant_time: %s\n", error.what());
    return 1;
  }
  if (verb == "list") return 0;
  std::fprintf(stderr, "constant_time: there is no '%s'; 'constant_time list' names all\n", argv[argc - 1]);
  return 2;
}
