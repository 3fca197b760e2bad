// SPDX-License-Identifier: Apache-2.0
// What the kernel says of snapshots, from the kernel's own socket.
#include "net/snapshot_watch.hpp"

#include <poll.h>

#include "temp_folder.hpp"
#include "uevents.hpp"

namespace pqcmav {
namespace {

using namespace test;
using namespace std::string_view_literals;

bool readable(const SnapshotWatch& watch) {
  pollfd wait{watch.fd(), POLLIN, 0};
  return ::poll(&wait, 1, 10'000) == 1;
}

TEST(SnapshotWatch, HearsThatTheGenerationIsAnother) {
  if (!enter_own_network()) GTEST_SKIP() << "needs a network namespace of its own";
  SnapshotWatch watch;
  ASSERT_GE(watch.fd(), 0);
  EXPECT_FALSE(watch.told());
  say_uevent("change@/devices/pci\0ACTION=change\0SEQ=NEW_VMGENID=1\0NEW_VMGENID=10\0"sv);
  ASSERT_TRUE(readable(watch));
  EXPECT_FALSE(watch.told()) << "another device, or another word";
  say_set_back();
  say_uevent("add@/devices/usb\0ACTION=add\0"sv);
  ASSERT_TRUE(readable(watch));
  EXPECT_TRUE(watch.told()) << "also when more was said since";
  EXPECT_FALSE(watch.told()) << "once";
}

TEST(SnapshotWatch, BelievesTheKernelAlone) {
  if (!enter_own_network()) GTEST_SKIP() << "needs a network namespace of its own";
  SnapshotWatch watch;
  sockaddr_nl to{};
  socklen_t size = sizeof to;
  ASSERT_EQ(::getsockname(watch.fd(), reinterpret_cast<sockaddr*>(&to), &size), 0);
  to.nl_groups = 0;
  const Fd out(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT));
  const auto text = "change@/x\0NEW_VMGENID=1\0"sv;
  ASSERT_EQ(::sendto(out.get(), text.data(), text.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to),
            static_cast<ssize_t>(text.size()))
      << "a program with all rights here";
  ASSERT_TRUE(readable(watch));
  EXPECT_FALSE(watch.told());
}

TEST(SnapshotWatch, SeesAnotherBoot) {
  const TempFolder folder;
  write_text(folder / "boot_id", "7bdc925a-1490-4562-812a-2ecfc47ecc6b\n");
  SnapshotWatch watch(folder / "boot_id");
  EXPECT_FALSE(watch.boot_changed());
  write_text(folder / "boot_id", "c56f1b52-8a8d-4f53-9a0f-0d2b5a0c0c11\n");
  EXPECT_TRUE(watch.boot_changed());
  EXPECT_FALSE(watch.boot_changed());
  std::filesystem::remove(folder / "boot_id");
  EXPECT_FALSE(watch.boot_changed()) << "where nothing can be read, nothing is known";
  SnapshotWatch blind(folder / "none");
  EXPECT_FALSE(blind.boot_changed());
}

}  // namespace
}  // namespace pqcmav
