// SPDX-License-Identifier: Apache-2.0
#include "console/line_client.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <string>
#include <thread>

#include "clock.hpp"
#include "temp_folder.hpp"

namespace pqcmav {
namespace {

using namespace std::chrono_literals;

class LineClientTest : public testing::Test {
 protected:
  LineClientTest() {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::strncpy(at.sun_path, path().c_str(), sizeof at.sun_path - 1);
    EXPECT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    EXPECT_EQ(::listen(listener.get(), 4), 0);
  }
  [[nodiscard]] std::filesystem::path path() const { return folder / "own.sock"; }
  [[nodiscard]] Fd accepted() const { return Fd(::accept(listener.get(), nullptr, nullptr)); }
  static void send(const Fd& to, std::string_view text) {
    (void)!::send(to.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }
  static std::uint64_t later() { return now_ns() + to_ns(60s); }

  test::TempFolder folder;
  Fd listener{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  Fd stop{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
};

TEST_F(LineClientTest, LinesComeWholeHoweverTheyAreSent) {
  LineClient client(path());
  ASSERT_TRUE(client.open()) << client.problem();
  EXPECT_EQ(client.user(), ::geteuid());
  EXPECT_EQ(client.process(), ::getpid());
  const auto other = accepted();
  send(other, "one\ntw");
  EXPECT_EQ(client.hear(later(), stop), "one");
  EXPECT_EQ(client.hear(now_ns(), stop), std::nullopt) << "no whole line yet";
  EXPECT_TRUE(client.open());
  send(other, "o\n\n");
  EXPECT_EQ(client.hear(later(), stop), "two");
  EXPECT_EQ(client.hear(later(), stop), "");
  EXPECT_TRUE(client.say("asked", later(), stop));
  char bytes[16];
  EXPECT_EQ(::recv(other.get(), bytes, sizeof bytes, 0), 6);
}

TEST_F(LineClientTest, AWaitEndsWhenItIsToldSo) {
  LineClient client(path());
  const auto other = accepted();
  std::thread teller([&] { ring(stop); });
  EXPECT_EQ(client.hear(later(), stop), std::nullopt);
  EXPECT_TRUE(client.open());
  teller.join();
}

TEST_F(LineClientTest, TheEndOfTheOtherSideIsTold) {
  LineClient client(path());
  {
    const auto other = accepted();
  }
  EXPECT_EQ(client.hear(later(), stop), std::nullopt);
  EXPECT_FALSE(client.open());
  EXPECT_EQ(client.problem(), "it ended the connection");
  EXPECT_FALSE(client.say("anything", later(), stop));
}

TEST_F(LineClientTest, ALineHasAnEnd) {
  LineClient client(path());
  const auto other = accepted();
  std::thread liar([&] {
    const std::string much(1 << 20, 'x');
    for (int i = 0; i < 20; ++i) send(other, much);
  });
  EXPECT_EQ(client.hear(later(), stop), std::nullopt);
  EXPECT_EQ(client.problem(), "a line of it was longer than 16 MiB");
  ::shutdown(other.get(), SHUT_RDWR);
  liar.join();
}

TEST_F(LineClientTest, WhoTakesNothingHoldsUpNobody) {
  LineClient client(path());
  const auto other = accepted();
  EXPECT_FALSE(client.say(std::string(8 << 20, 'x'), now_ns(), stop));
  EXPECT_EQ(client.problem(), "it took no request in time");
}

TEST_F(LineClientTest, APathWhereNobodyListens) {
  listener.reset();
  EXPECT_EQ(LineClient(path()).problem(), "nobody listens there");
  EXPECT_EQ(LineClient(folder / "none").problem(), "nobody listens there");
  EXPECT_EQ(LineClient("/" + std::string(200, 'x')).problem(), "the path is too long");
}

}  // namespace
}  // namespace pqcmav
