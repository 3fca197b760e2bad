// SPDX-License-Identifier: Apache-2.0
#include "shape/class_queue.hpp"

#include <gtest/gtest.h>

namespace pqcmav {
namespace {

TEST(ClassQueue, FirstInFirstOut) {
  ClassQueue queue(3);
  EXPECT_TRUE(queue.empty());
  for (std::uint16_t place = 0; place < 3; ++place) queue.push({place, 10, {}, place, false});
  EXPECT_TRUE(queue.full());
  EXPECT_EQ(queue.front().place, 0);
  for (std::uint16_t place = 0; place < 3; ++place) EXPECT_EQ(queue.pop().place, place);
  EXPECT_TRUE(queue.empty());
}

TEST(ClassQueue, FindsAStreamWhereItWaits) {
  ClassQueue queue(4);
  queue.push({0, 10, {}, 1, false});
  queue.push({1, 10, 7, 2, false});
  queue.push({2, 10, 8, 3, false});
  EXPECT_EQ(queue.find(9), nullptr);
  ASSERT_NE(queue.find(7), nullptr);
  EXPECT_EQ(queue.find(7)->place, 1);
  (void)queue.pop();
  (void)queue.pop();
  EXPECT_EQ(queue.find(7), nullptr) << "sent";
}

TEST(ClassQueue, PicksWhatBringsTheMostNewsUntilItIsTaken) {
  ClassQueue queue(4);
  queue.push({0, 10, 7, 100, false, 160, 100});
  queue.push({1, 10, 8, 110, false, 190, 100});
  queue.push({2, 10, 9, 120, false, 190, 100});
  queue.pick(99);
  EXPECT_EQ(queue.front().place, 1) << "the first of two that bring as much";
  EXPECT_EQ(queue.oldest().place, 0);
  queue.pick(100);
  EXPECT_EQ(queue.front().place, 0) << "it has waited for long";
  queue.push({3, 10, 5, 130, false, 130, 0});
  queue.pick(0);
  EXPECT_EQ(queue.pop().place, 3) << "nothing of it ever left";
  EXPECT_EQ(queue.pop().place, 0) << "none is picked now";
  queue.pick(0);
  EXPECT_EQ(queue.pop().place, 1);
  EXPECT_EQ(queue.pop().place, 2);
  EXPECT_TRUE(queue.empty());
}

TEST(ClassQueue, MakesRoomForFilesAndForOthersUpToHalfOfItEach) {
  const auto filled = [](std::initializer_list<bool> files) {
    ClassQueue queue(files.size());
    std::uint16_t place = 0;
    for (const bool file : files) {
      ClassQueue::Waiting packet{place++};
      packet.file = file;
      queue.push(packet);
    }
    return queue;
  };
  const auto out = [](ClassQueue queue, bool for_file) {
    const auto gone = queue.make_room(for_file);
    EXPECT_EQ(queue.full(), !gone);
    return gone ? int{gone->place} : -1;
  };
  EXPECT_EQ(out(filled({false, false, false, false}), false), 0) << "the oldest";
  EXPECT_EQ(out(filled({true, false, false, false}), true), 1) << "the oldest of the others, which have more than half";
  EXPECT_EQ(out(filled({true, false, true, false}), true), -1) << "files have their half";
  EXPECT_EQ(out(filled({true, false, true, false}), false), 1);
  EXPECT_EQ(out(filled({true, true, false, true}), false), 3) << "the newest piece, which fills no gap";
  EXPECT_EQ(out(filled({true, true, true, true}), true), -1);
}

TEST(ClassQueue, FindsTheFirstOfASigner) {
  ClassQueue queue(4);
  EXPECT_EQ(queue.first_of(7), nullptr);
  for (const auto order : {5, 3, 4}) {
    ClassQueue::Waiting packet{static_cast<std::uint16_t>(order)};
    packet.signer = order == 4 ? 8 : 7;
    packet.order = static_cast<std::uint64_t>(order);
    queue.push(packet);
  }
  ASSERT_NE(queue.first_of(7), nullptr);
  EXPECT_EQ(queue.first_of(7)->place, 3);
  queue.pick(*queue.first_of(8));
  EXPECT_EQ(queue.front().place, 4);
  queue.unpick();
  EXPECT_EQ(queue.front().place, 5);
  queue.pick(*queue.first_of(7));
  EXPECT_EQ(queue.pop().place, 3);
  EXPECT_EQ(queue.front().place, 5);
}

TEST(ClassQueue, CorrectionsExpireAndNothingElse) {
  ClassQueue queue(4);
  queue.push({0, 10, {}, 1, false});
  queue.push({1, 10, {}, 1, true});
  queue.push({2, 10, {}, 5, true});
  std::vector<std::uint16_t> gone;
  queue.expire_corrections(5, [&](const auto& each) { gone.push_back(each.place); });
  EXPECT_EQ(gone, (std::vector<std::uint16_t>{1}));
  EXPECT_EQ(queue.pop().place, 0);
  EXPECT_EQ(queue.pop().place, 2);
}

}  // namespace
}  // namespace pqcmav
