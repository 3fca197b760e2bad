// SPDX-License-Identifier: Apache-2.0
#include "net/lookup.hpp"

#include <dlfcn.h>
#include <netdb.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <future>

#include "two_ways.hpp"

namespace {

constexpr std::string_view kSlowName = "slow.invalid", kSilentName = "silent.invalid";
// Never destroyed: the thread of an abandoned lookup may still wait for them while the process ends.
auto& name_service_answers = *new std::promise<void>;
const auto& answers = *new std::shared_future(name_service_answers.get_future());

}  // namespace

/// A name service that does not answer about one name until the test lets it, and never about another: the machine's may
/// answer at once.
extern "C" int getaddrinfo(const char* host, const char* service, const addrinfo* hints, addrinfo** found) {
  if (host != nullptr && host == kSlowName) {
    answers.wait();
    return EAI_NONAME;
  }
  while (host != nullptr && host == kSilentName) ::pause();
  static const auto real = reinterpret_cast<decltype(&getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  return real(host, service, hints, found);
}

namespace pqcmav {
namespace {

using namespace test;

class LookupTest : public ::testing::Test {
 protected:
  void cancel() const {
    const std::uint64_t one = 1;
    ASSERT_EQ(::write(cancel_fd.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }
  const Fd cancel_fd{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
};

TEST_F(LookupTest, AddressesAndNames) {
  for (const auto* host : {"127.0.0.1", "localhost"}) {
    const auto found = lookup(host, 46000, SOCK_STREAM, cancel_fd.get());
    ASSERT_TRUE(found) << host;
    ASSERT_FALSE(found->empty()) << host;
    EXPECT_EQ(found->front().port(), 46000) << host;
    EXPECT_TRUE(found->front().loopback()) << host;
  }
  EXPECT_EQ(lookup("2001:db8::7", 1, SOCK_STREAM, cancel_fd.get())->front().text(), "[2001:db8::7]:1");
}

TEST_F(LookupTest, ANameThatIsNotThere) {
  expect_error(Errc::address, {"Cannot resolve 'no-such-host.invalid'"},
               [&] { (void)lookup("no-such-host.invalid", 1, SOCK_STREAM, cancel_fd.get()); });
}

TEST_F(LookupTest, NobodyWaitsLongerThanHeSaid) {
  EXPECT_FALSE(lookup(std::string(kSlowName), 1, SOCK_STREAM, cancel_fd.get(), 20));
  name_service_answers.set_value();
  EXPECT_THROW((void)lookup(std::string(kSlowName), 1, SOCK_STREAM, cancel_fd.get()), TunnelError);
}

TEST_F(LookupTest, NobodyWaitsAfterTheEnd) {
  cancel();
  EXPECT_FALSE(lookup("no-such-host.invalid", 1, SOCK_STREAM, cancel_fd.get()));
  EXPECT_TRUE(lookup("127.0.0.1", 1, SOCK_STREAM, cancel_fd.get())) << "an address needs no waiting";
}

TEST_F(LookupTest, ADroneTriesItsOtherPathIfTheNameServiceIsSilent) {
  TwoWays ways(TwoWays::Second::udp, {}, {{"path.lte.peer", std::string(kSilentName) + ":14560"}});
  ways.start_drone();
  EventLog log(*ways.drone);
  const auto failed = log.wait_for<HandshakeEvent>([](const auto& event) { return !event.ok; });
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->reason, "The name service does not answer about 'silent.invalid'; check it, or give an address.");
  ASSERT_TRUE(eventually([&] { return up(*ways.drone); }));
  EXPECT_TRUE(ways.comes_to(1));
  EXPECT_TRUE(ways.passes());
}

}  // namespace
}  // namespace pqcmav
