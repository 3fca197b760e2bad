// SPDX-License-Identifier: Apache-2.0
#include "net/announcements.hpp"

#include <gtest/gtest.h>

#include "crypto/kdf.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

RestartToken token(std::uint8_t fill) {
  RestartToken out;
  out.token.fill(fill);
  return out;
}

const Bytes& return_key() {
  static const Bytes key(kReturnKeySize, 9);
  return key;
}

ReturnGrant grant(std::uint32_t serial) { return {serial, {1, 2, 3, 4, 5, 6, 7, 8}, return_key()}; }

/// What a control frame of the announcements alone says.
ControlList said(const Announcements& announcements) {
  Bytes frame(kControlFrameMax);
  frame.resize(announcements.append_to(frame, 0));
  ControlList out;
  if (!frame.empty()) {
    EXPECT_TRUE(parse_controls(frame, out));
  }
  return out;
}

TEST(Announcements, AreSaidInEveryFrameUntilTheirAnswer) {
  Announcements announcements;
  EXPECT_TRUE(announcements.empty());
  announcements.set({Announcements::of(grant(7)), Announcements::of(token(3))});
  for (int frame = 0; frame < 3; ++frame) {
    const auto list = said(announcements);
    ASSERT_EQ(list.count, 2u);
    EXPECT_EQ(std::get<ReturnGrant>(list.items[0]).serial, 7u);
    EXPECT_EQ(std::get<RestartToken>(list.items[1]).token, token(3).token);
  }
  announcements.on_got(got_for(Control(grant(7))).value());
  auto list = said(announcements);
  ASSERT_EQ(list.count, 1u);
  EXPECT_TRUE(std::holds_alternative<RestartToken>(list.items[0]));
  announcements.on_got(got_for(Control(token(3))).value());
  EXPECT_TRUE(announcements.empty());
  EXPECT_EQ(said(announcements).count, 0u);
}

TEST(Announcements, TheAnswerIsTheTypeAndTheHashOfTheValue) {
  const auto value = Announcements::of(token(3));
  const auto hash = sha256({token(3).token});
  EXPECT_EQ(value.answer.type, value.tlv.at(0));
  EXPECT_TRUE(std::equal(value.answer.check.begin(), value.answer.check.end(), hash.begin()));
  EXPECT_EQ(value.tlv.size(), kTlvHeader + token(3).token.size());
}

TEST(Announcements, AnAnswerToSomethingElseEndsNothing) {
  Announcements announcements;
  announcements.set({Announcements::of(grant(7)), Announcements::of(token(3))});
  auto other_type = got_for(Control(token(3))).value();
  other_type.type = 33;
  for (const auto& got : {got_for(Control(token(4))).value(), got_for(Control(grant(8))).value(), other_type, Got{}}) {
    announcements.on_got(got);
    EXPECT_EQ(said(announcements).count, 2u);
  }
  auto bent = got_for(Control(token(3))).value();
  for (auto& byte : bent.check) {
    byte ^= 1;
    announcements.on_got(bent);
    EXPECT_EQ(said(announcements).count, 2u);
    byte ^= 1;
  }
  announcements.on_got(bent);
  EXPECT_EQ(said(announcements).count, 1u);
}

TEST(Announcements, ALateAnswerDoesNotEndWhatIsSaidNow) {
  Announcements announcements;
  announcements.set({Announcements::of(grant(7))});
  const auto late = got_for(Control(grant(7))).value();
  announcements.set({Announcements::of(grant(8))});
  announcements.on_got(late);
  ASSERT_EQ(said(announcements).count, 1u);
  EXPECT_EQ(std::get<ReturnGrant>(said(announcements).items[0]).serial, 8u);
}

TEST(Announcements, GoAfterWhatTheFrameHoldsAndOnlyAsFarAsThereIsRoom) {
  Announcements announcements;
  announcements.set({Announcements::of(grant(7)), Announcements::of(token(3))});
  const auto large = Announcements::of(grant(7)).tlv, small = Announcements::of(token(3)).tlv;
  ASSERT_GT(large.size(), small.size());
  for (std::size_t room = 0; room <= large.size() + small.size() + 1; ++room) {
    Bytes frame(5 + room, 0xee);
    const auto used = announcements.append_to(frame, 5);
    ASSERT_TRUE(std::all_of(frame.begin(), frame.begin() + 5, [](auto byte) { return byte == 0xee; }));
    const auto expected = room >= large.size() + small.size() ? large.size() + small.size()
                          : room >= large.size()              ? large.size()
                          : room >= small.size()              ? small.size()
                                                              : 0;
    ASSERT_EQ(used, 5 + expected) << room;
    ASSERT_TRUE(std::all_of(frame.begin() + static_cast<std::ptrdiff_t>(used), frame.end(),
                            [](auto byte) { return byte == 0xee; }));
    ControlList list;
    if (expected != 0) {
      ASSERT_TRUE(parse_controls(ByteView(frame).subspan(5, expected), list)) << "whole TLVs or none";
    }
  }
}

TEST(Announcements, OnlyWhatIsAnsweredCanBeAnnounced) {
  EXPECT_THROW((void)Announcements::of(Keepalive{}), TunnelError);
  EXPECT_THROW((void)Announcements::of(PathChallenge{}), TunnelError);
  EXPECT_THROW((void)Announcements::of(Got{}), TunnelError);
}

}  // namespace
}  // namespace pqcmav
