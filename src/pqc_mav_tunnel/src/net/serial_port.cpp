// SPDX-License-Identifier: Apache-2.0
#include "net/serial_port.hpp"

#include <asm/termbits.h>  // termios2, which takes any baud rate; <termios.h> does not go with it
#include <fcntl.h>
#include <grp.h>
#include <linux/serial.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

constexpr std::uint32_t kBaudTolerance = 33;  // one part in: 3 % is what a UART bears

std::string user_name() {
  std::array<char, 4096> room{};
  passwd entry{}, *found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, room.data(), room.size(), &found) != 0 || found == nullptr)
    return std::to_string(::geteuid());
  return found->pw_name;
}

/// The group that may use the port, which is nearly always dialout.
std::string group_of(const std::string& path) {
  struct stat about{};
  std::array<char, 4096> room{};
  group entry{}, *found = nullptr;
  if (::stat(path.c_str(), &about) != 0 || about.st_gid == 0 ||
      ::getgrgid_r(about.st_gid, &entry, room.data(), room.size(), &found) != 0 || found == nullptr)
    return "dialout";
  return found->gr_name;
}

[[noreturn]] void refuse_port(Errc code, const std::string& path, const std::string& why) {
  throw TunnelError(code, "The serial port " + path + " " + why);
}

[[noreturn]] void refuse_held(const std::string& path) {
  refuse_port(Errc::io, path,
              "is in use by another program (a router, a terminal, ModemManager); stop that one: 'fuser -v " + path +
                  "' names it.");
}

[[noreturn]] void refuse_open(int error, const std::string& path) {
  if (error == ENOENT || error == ENODEV || error == ENXIO)
    refuse_port(Errc::io, path, "is not there; plug it in, or correct its name.");
  if (error == EPERM)
    refuse_port(Errc::permission, path,
                "is kept from this service or container: allow it there (systemd: DeviceAllow=" + path + " rw).");
  if (error == EACCES)
    refuse_port(Errc::permission, path,
                "is not open to the user " + user_name() + ": 'sudo usermod -aG " + group_of(path) + " " + user_name() +
                    "', and log in again (a service: restart it).");
  if (error == EBUSY) refuse_held(path);
  refuse_port(Errc::io, path, "cannot be opened: " + system_reason(error) + ".");
}

bool baud_near(std::uint32_t got, std::uint32_t wanted) noexcept {
  const auto difference = got > wanted ? got - wanted : wanted - got;
  return difference <= wanted / kBaudTolerance;
}

void configure_line(int fd, const SerialOptions& options) {
  termios2 line{};
  if (::ioctl(fd, TCGETS2, &line) != 0) refuse_port(Errc::io, options.path, "is no serial port; give another path.");
  line.c_iflag = 0;
  line.c_oflag = 0;
  line.c_lflag = 0;
  line.c_cflag = CS8 | CREAD | CLOCAL | BOTHER | (std::uint32_t{BOTHER} << IBSHIFT);
  if (options.flow_control) line.c_cflag |= CRTSCTS;
  line.c_ispeed = line.c_ospeed = options.baud;
  line.c_cc[VMIN] = 1;  // no bytes is "try again", so that an end can be told from it
  line.c_cc[VTIME] = 0;
  if (::ioctl(fd, TCSETS2, &line) != 0)
    refuse_port(Errc::io, options.path,
                "does not take " + std::to_string(options.baud) + " baud" +
                    (options.flow_control ? " with flow control" : "") + ": " + system_reason(errno) + ".");
  termios2 now{};
  if (::ioctl(fd, TCGETS2, &now) == 0 && !baud_near(now.c_ospeed, options.baud))
    refuse_port(Errc::io, options.path,
                "cannot do " + std::to_string(options.baud) + " baud, only " + std::to_string(now.c_ospeed) +
                    "; set both ends to a rate that it can do.");
  ::ioctl(fd, TCFLSH, TCIOFLUSH);
  // Not every driver knows it, and without it the line works all the same.
  if (serial_struct about{}; options.quick && ::ioctl(fd, TIOCGSERIAL, &about) == 0) {
    about.flags |= ASYNC_LOW_LATENCY;
    ::ioctl(fd, TIOCSSERIAL, &about);
  }
}

}  // namespace

Fd open_serial(const SerialOptions& options) {
  Fd port(::open(options.path.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  if (!port) refuse_open(errno, options.path);
  // Root is let in although another program has it for itself: ask first.
  int exclusive = 0;
  if (::ioctl(port.get(), TIOCGEXCL, &exclusive) == 0 && exclusive != 0) refuse_held(options.path);
  if (::flock(port.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) refuse_held(options.path);
  configure_line(port.get(), options);
  ::ioctl(port.get(), TIOCEXCL);
  return port;
}

std::size_t held_output(const Fd& port) noexcept {
  int held = 0;
  return ::ioctl(port.get(), TIOCOUTQ, &held) == 0 && held > 0 ? static_cast<std::size_t>(held) : 0;
}

std::size_t forget_output(const Fd& port) noexcept {
  const auto held = held_output(port);
  ::ioctl(port.get(), TCFLSH, TCOFLUSH);
  return held - std::min(held, held_output(port));
}

void close_serial(Fd& port) noexcept {
  if (!port) return;
  forget_output(port);
  ::ioctl(port.get(), TIOCNXCL);
  port.reset();
}

}  // namespace pqcmav
