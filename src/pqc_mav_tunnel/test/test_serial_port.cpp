// SPDX-License-Identifier: Apache-2.0
// Opening a serial port: raw, at any rate, for one program, and what is said when that does not work.
#include "net/serial_port.hpp"

#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <thread>

#include "mavlink_stream.hpp"
#include "temp_folder.hpp"

namespace pqcmav {
namespace {

using namespace test;

/// In a thread that is not root's, where this one is.
template <typename Do>
void as_anybody(Do what) {
  std::thread([&] {
    if (::geteuid() == 0) {
      ASSERT_EQ(::syscall(SYS_setresuid, -1, 65534, -1), 0);  // of this thread alone
    }
    what();
  }).join();
}

class SerialPort : public ::testing::Test {
 protected:
  TempFolder folder;
  FakePort port{folder / "tty"};
};

TEST_F(SerialPort, CarriesEveryByteUnchanged) {
  const auto fd = open_serial({port.path(), 921600, false});
  Bytes all(256);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint8_t>(i);
  ASSERT_EQ(::write(fd.get(), all.data(), all.size()), 256);
  EXPECT_EQ(port.receive(256), all);
  port.send(all);
  Bytes got(256);
  for (std::size_t have = 0; have < got.size();) {
    pollfd wait{fd.get(), POLLIN, 0};
    ASSERT_EQ(::poll(&wait, 1, 10'000), 1);
    have += static_cast<std::size_t>(::read(fd.get(), got.data() + have, got.size() - have));
  }
  EXPECT_EQ(got, all);
}

TEST_F(SerialPort, TakesRatesThatHaveNoName) {
  for (const std::uint32_t baud : {9600u, 57600u, 100'000u, 250'000u, 921'600u, 1'500'000u, 12'000'000u}) {
    auto fd = open_serial({port.path(), baud, baud == 57600});
    EXPECT_TRUE(fd);
    close_serial(fd);
    EXPECT_FALSE(fd);
  }
}

TEST_F(SerialPort, IsForOneProgram) {
  auto fd = open_serial({port.path(), 57600, false});
  expect_error(Errc::io, {port.path(), "in use by another program", "fuser"},
               [&] { open_serial({port.path(), 57600, false}); });
  close_serial(fd);
  EXPECT_NO_THROW(open_serial({port.path(), 57600, false}));
  // One that only asks for the lock, as minicom and pyserial do.
  const Fd other(::open(port.path().c_str(), O_RDWR | O_NOCTTY));
  ASSERT_EQ(::flock(other.get(), LOCK_EX), 0);
  expect_error(Errc::io, {"in use by another program"}, [&] { open_serial({port.path(), 57600, false}); });
}

TEST_F(SerialPort, SaysWhatIsWrong) {
  expect_error(Errc::io, {"/dev/no-such-port", "not there", "plug it in"},
               [] { open_serial({"/dev/no-such-port", 57600, false}); });
  expect_error(Errc::io, {"/dev/null", "no serial port"}, [] { open_serial({"/dev/null", 57600, false}); });
  const auto gone = port.terminal();
  port.unplug();
  expect_error(Errc::io, {gone, "not there"}, [&] { open_serial({gone, 57600, false}); });
}

TEST_F(SerialPort, NamesTheGroupThatMayOpenIt) {
  const auto terminal = port.terminal();
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(terminal.c_str(), 0, 0), 0);  // root's group says nothing: dialout, then
  }
  const char* const group = ::geteuid() == 0 ? "usermod -aG dialout nobody" : "usermod -aG";
  std::filesystem::permissions(terminal, std::filesystem::perms::none);
  as_anybody([&] {
    expect_error(Errc::permission, {terminal, "is not open to the user", group},
                 [&] { open_serial({terminal, 57600, false}); });
  });
}

TEST_F(SerialPort, NobodyElseCanOpenItMeanwhile) {
  const auto terminal = port.terminal();
  std::filesystem::permissions(terminal, std::filesystem::perms::all);
  const auto ours = open_serial({terminal, 57600, false});
  as_anybody([&] {
    EXPECT_LT(::open(terminal.c_str(), O_RDWR | O_NOCTTY), 0);
    EXPECT_EQ(errno, EBUSY);
    expect_error(Errc::io, {"in use by another program"}, [&] { open_serial({terminal, 57600, false}); });
  });
}

TEST_F(SerialPort, ClosesWithoutWaitingForWhatNobodyReads) {
  auto fd = open_serial({port.path(), 1200, true});
  const Bytes bulk(4096, 0x55);
  while (::write(fd.get(), bulk.data(), bulk.size()) > 0) continue;
  close_serial(fd);
  EXPECT_FALSE(fd);
}

}  // namespace
}  // namespace pqcmav
