// SPDX-License-Identifier: Apache-2.0
// Whether this machine was set back to a snapshot or copied, as far as the kernel tells: then what is in memory, keys and
// their counters too, may live twice.
//
// A virtual machine: the driver vmgenid sees that the hypervisor changed the generation id, and says so in a uevent
// (NEW_VMGENID=1), which any user may hear; not in a network that belongs to a user namespace. A process whose memory was
// stored and brought back (CRIU): the boot id is another one, if that was after a restart or on another machine, and if
// the process may read it (ProcSubset=pid hides it). Clocks say nothing: a pause looks the same.
#pragma once

#include <filesystem>
#include <string>

#include "fd.hpp"

namespace pqcmav {

class SnapshotWatch {
 public:
  explicit SnapshotWatch(std::filesystem::path boot_id = "/proc/sys/kernel/random/boot_id");
  /// Readable when told() has something to read; -1 where this process may not hear the kernel.
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }
  /// Has the kernel said since the last call that the machine's generation is another one? Reads all that it said.
  [[nodiscard]] bool told() noexcept;
  /// Is it another boot than at the last call?
  [[nodiscard]] bool boot_changed();

 private:
  [[nodiscard]] std::string read_boot_id() const;

  std::filesystem::path file_;
  std::string boot_id_;
  Fd socket_;
};

}  // namespace pqcmav
