// SPDX-License-Identifier: Apache-2.0
#include "handshake/handshake_frames.hpp"

#include <gtest/gtest.h>

namespace pqcmav {
namespace {

using State = FrameReader::State;

Bytes frame(MessageType type, std::size_t size, std::uint8_t fill = 7) {
  auto out = start_frame(type, size);
  out.resize(out.size() + size, fill);
  return out;
}

TEST(FrameReader, ReadsAFrameInAnySplit) {
  const auto whole = frame(MessageType::server_hello, 300);
  for (std::size_t chunk = 1; chunk <= whole.size(); ++chunk) {
    FrameReader reader;
    reader.expect({{MessageType::server_hello, 0, 300}});
    ByteView left = whole;
    while (!left.empty()) {
      auto part = left.first(std::min(chunk, left.size()));
      left = left.subspan(part.size());
      ASSERT_EQ(reader.feed(part), left.empty() ? State::complete : State::partial);
      ASSERT_TRUE(part.empty());
    }
    EXPECT_EQ(reader.type(), MessageType::server_hello);
    EXPECT_EQ(reader.body().size(), 300u);
    EXPECT_EQ(reader.take(), whole);
  }
}

TEST(FrameReader, LeavesWhatFollowsTheFrame) {
  FrameReader reader;
  reader.expect({{MessageType::reject, 1, 1}});
  auto bytes = frame(MessageType::reject, 1);
  append(bytes, Bytes{1, 2, 3});
  ByteView in = bytes;
  EXPECT_EQ(reader.feed(in), State::complete);
  EXPECT_EQ(in.size(), 3u);
  EXPECT_EQ(reader.feed(in), State::complete);
  EXPECT_EQ(in.size(), 3u);
}

TEST(FrameReader, AnEmptyBodyIsAFrame) {
  FrameReader reader;
  reader.expect({{MessageType::challenge, 0, 4}});
  const auto bytes = frame(MessageType::challenge, 0);
  ByteView in = bytes;
  EXPECT_EQ(reader.feed(in), State::complete);
  EXPECT_TRUE(reader.body().empty());
}

TEST(FrameReader, RefusesOtherTypesAndLengthsAtTheHeader) {
  const std::vector<FrameLimits> limits{{MessageType::server_hello, 10, 20}, {MessageType::reject, 1, 1}};
  const auto state_of = [&](MessageType type, std::uint32_t length) {
    FrameReader reader;
    reader.expect(limits);
    Bytes header;
    append_be(header, length);
    append_be(header, static_cast<std::uint8_t>(type));
    ByteView in = header;
    return reader.feed(in);
  };
  EXPECT_EQ(state_of(MessageType::server_hello, 10), State::partial);
  EXPECT_EQ(state_of(MessageType::server_hello, 20), State::partial);
  EXPECT_EQ(state_of(MessageType::reject, 1), State::partial);
  EXPECT_EQ(state_of(MessageType::server_hello, 9), State::refused);
  EXPECT_EQ(state_of(MessageType::server_hello, 21), State::refused);
  EXPECT_EQ(state_of(MessageType::server_hello, 1), State::refused);
  EXPECT_EQ(state_of(MessageType::reject, 10), State::refused);
  EXPECT_EQ(state_of(MessageType::reject, 0), State::refused);
  EXPECT_EQ(state_of(MessageType::client_hello, 15), State::refused);
  EXPECT_EQ(state_of(static_cast<MessageType>(255), 15), State::refused);
  EXPECT_EQ(state_of(MessageType::server_hello, 0xffffffff), State::refused);
}

TEST(FrameReader, AnAnnouncementCostsNoMemory) {
  constexpr std::size_t kHuge = 1'400'000;
  FrameReader reader;
  reader.expect({{MessageType::server_hello, 0, kHuge}});
  const auto whole = frame(MessageType::server_hello, kHuge);
  ByteView in = ByteView(whole).first(6);
  EXPECT_EQ(reader.feed(in), State::partial);
  EXPECT_LE(reader.capacity(), 4096u);
  // Then room follows what arrives.
  for (std::size_t at = 6; at < whole.size();) {
    in = ByteView(whole).subspan(at, std::min<std::size_t>(1448, whole.size() - at));
    at += in.size();
    ASSERT_EQ(reader.feed(in), at == whole.size() ? State::complete : State::partial);
    ASSERT_LE(reader.capacity(), std::max<std::size_t>(4096, 2 * at));
  }
  EXPECT_EQ(reader.capacity(), whole.size()) << "the last growth goes to the exact size";
  EXPECT_EQ(reader.take(), whole);
}

TEST(FrameReader, ExpectsNothingUntilTold) {
  FrameReader reader;
  const auto bytes = frame(MessageType::challenge, 1);
  ByteView in = bytes;
  EXPECT_EQ(reader.feed(in), State::refused);
  reader.expect({{MessageType::challenge, 1, 1}});
  EXPECT_EQ(reader.feed(in), State::complete);
  (void)reader.take();
  EXPECT_EQ(reader.feed(in), State::refused);
}

}  // namespace
}  // namespace pqcmav
