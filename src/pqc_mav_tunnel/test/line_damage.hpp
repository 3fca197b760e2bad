// SPDX-License-Identifier: Apache-2.0
// What the air does to bytes, for tests of what is read from a serial line.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "line/line_frame.hpp"

namespace pqcmav::test {

struct LineDamage {
  std::string what;
  std::function<void(Bytes& stream, std::size_t at, std::mt19937& random)> apply;
  double frames_lost_most;  // for each event, on average
};

inline Bytes any_bytes(std::mt19937& random, std::size_t size) {
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
         const auto noise = any_bytes(r, 100);
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

// Below, a `Reader` has feed(ByteView), errors(), and in `got` each datagram with its line. `write` gives the bytes of one.

/// Datagrams of these sizes, random, zeros and `marker`s, come through a stream that is cut in any way.
template <typename Reader, typename Write>
void expect_every_size_in_any_pieces(std::initializer_list<std::size_t> sizes, std::uint8_t marker, LineAddress line,
                                     Write write) {
  std::mt19937 random(2);
  Bytes stream;
  std::vector<Bytes> sent;
  for (const auto size : sizes)
    for (auto& each : {any_bytes(random, size), Bytes(size, 0), Bytes(size, marker)}) sent.push_back(each);
  for (const auto& each : sent) append(stream, write(each));
  for (const std::size_t piece : {1ul, 7ul, 300ul, stream.size()}) {
    Reader reader;
    for (ByteView rest = stream; !rest.empty(); rest = rest.subspan(std::min(piece, rest.size())))
      reader.feed(rest.first(std::min(piece, rest.size())));
    ASSERT_EQ(reader.got.size(), sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) EXPECT_EQ(reader.got[i], std::pair(line, sent[i]));
    EXPECT_EQ(reader.errors(), 0u);
  }
}

/// An event of the air costs the frames that it touches, never more, and nothing comes out that nobody sent. The reader
/// counts no fewer than `errors_least` of the events.
template <typename Reader, typename Write>
void expect_damage_costs_what_it_touches(std::uint8_t marker, double errors_least, Write write) {
  for (const auto& damage : line_damages(marker)) {
    std::mt19937 random(3);
    std::set<Bytes> sent;
    Bytes stream;
    for (int i = 0; i < 1200; ++i) {
      const auto datagram = any_bytes(random, std::array{50ul, 70ul, 110ul, 210ul}[random() % 4]);
      sent.insert(datagram);
      append(stream, write(datagram));
    }
    const auto places = damaged_places(random, stream.size(), 100);
    for (const auto at : places) damage.apply(stream, at, random);
    Reader reader;
    reader.feed(stream);
    auto lost = sent;
    for (const auto& [line, datagram] : reader.got) {
      ASSERT_TRUE(sent.contains(datagram)) << damage.what;
      lost.erase(datagram);
    }
    const auto events = static_cast<double>(places.size()), gone = static_cast<double>(lost.size());
    EXPECT_GE(gone, events / 2) << damage.what;
    EXPECT_LE(gone, damage.frames_lost_most * events) << damage.what;
    EXPECT_GE(static_cast<double>(reader.errors()), errors_least * events) << damage.what;
  }
}

}  // namespace pqcmav::test
