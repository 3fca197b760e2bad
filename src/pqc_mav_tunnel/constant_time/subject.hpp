// SPDX-License-Identifier: Apache-2.0
// What is examined: an operation with a secret, whose inputs can be drawn from either of two classes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bytes.hpp"

namespace pqcmav::constant_time {

enum class Class : std::uint8_t { fixed, varied };

/// An operation. For keys the classes are one fixed key and a random one each time; for tags and what else is compared,
/// a wrong one that differs in the last byte and one that differs in the first.
struct Subject {
  std::string group;  // engine, openssl, liboqs; leak: what has to be found
  std::string name;
  std::function<void(Class)> draw;                     // puts inputs in place; not measured
  std::function<void()> run;                           // is measured
  std::function<std::vector<MutableBytes>()> secrets;  // of the inputs in place
  bool timed = true;                                   // false: its time depends on more than the secret
};

/// 0xff for `wanted`, else 0: classes are told apart by arithmetic, for a branch would leave traces in the predictors.
inline std::uint8_t mask_if(Class which, Class wanted) {
  const auto differs = static_cast<std::uint8_t>(static_cast<std::uint8_t>(which) ^ static_cast<std::uint8_t>(wanted));
  return static_cast<std::uint8_t>(differs - 1);
}
/// Random bytes, or the same ones always.
void draw_bytes(MutableBytes out, Class which);

std::vector<Subject> engine_subjects();
std::vector<Subject> openssl_subjects();
/// Of every KEM and signature in the table that this liboqs has.
std::vector<Subject> liboqs_subjects();
/// A comparison by memcmp and a table at a secret index.
std::vector<Subject> leaks();

/// Keeps the compiler from leaving out what makes `value`.
template <typename Value>
inline void keep(const Value& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

}  // namespace pqcmav::constant_time
