// SPDX-License-Identifier: Apache-2.0
// What the air does to bytes, for tests of what is read from a serial line.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "bytes.hpp"

namespace pqcmav::test {

struct LineDamage {
  std::string what;
  std::function<void(Bytes& stream, std::size_t at, std::mt19937& random)> apply;
  double frames_lost_most;  // for each event, on average
};

inline Bytes random_bytes(std::mt19937& random, std::size_t size) {
  Bytes out(size);
  for (auto& byte : out) byte = static_cast<std::uint8_t>(random());
  return out;
}

/// The delimiter, or start marker, is what an attacker would insert.
inline std::vector<LineDamage> line_damages(std::uint8_t marker) {
  const auto place = [](Bytes& stream, std::size_t at) { return stream.begin() + static_cast<std::ptrdiff_t>(at); };
  return {
      {"a byte lost", [=](Bytes& s, std::size_t at, std::mt19937&) { s.erase(place(s, at)); }, 1.3},
      {"a byte inserted",
       [=](Bytes& s, std::size_t at, std::mt19937& r) { s.insert(place(s, at), static_cast<std::uint8_t>(r())); }, 1.3},
      {"a bit bent",
       [](Bytes& s, std::size_t at, std::mt19937& r) { s[at] ^= static_cast<std::uint8_t>(1u << r() % 8); }, 1.3},
      {"a marker inserted", [=](Bytes& s, std::size_t at, std::mt19937&) { s.insert(place(s, at), marker); }, 1.3},
      {"a hundred bytes of noise",
       [=](Bytes& s, std::size_t at, std::mt19937& r) {
         const auto noise = random_bytes(r, 100);
         s.insert(place(s, at), noise.begin(), noise.end());
       },
       1.3},
      {"up to a hundred bytes lost",
       [=](Bytes& s, std::size_t at, std::mt19937& r) { s.erase(place(s, at), place(s, at + 1 + r() % 100)); }, 2.0},
  };
}

/// Places for one event in about twelve frames, the last one first, so that they stay where they are.
inline std::vector<std::size_t> damaged_places(std::mt19937& random, std::size_t bytes, std::size_t count) {
  std::vector<std::size_t> out;
  for (std::size_t i = count; i-- > 0;) {
    const auto part = (bytes - 400) / count;
    out.push_back(i * part + random() % (part / 2));
  }
  return out;
}

}  // namespace pqcmav::test
