// SPDX-License-Identifier: Apache-2.0
#include "cold_code.hpp"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace pqcmav {

namespace {

/// Whether the loader wrote addresses into its code, which would be lost. No library of a usual system is built so.
bool has_patched_code(const dl_phdr_info& library, std::span<const ElfW(Phdr)> segments) {
  for (const auto& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(library.dlpi_addr + segment.p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry)
      if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL) != 0))
        return true;
  }
  return false;
}

int let_go_of(dl_phdr_info* library, std::size_t, void*) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto segments = std::span(library->dlpi_phdr, library->dlpi_phnum);
  if (has_patched_code(*library, segments)) return 0;
  for (const auto& segment : segments) {
    // What may be written to has pages that are no longer the file's.
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const auto first = static_cast<std::uintptr_t>(library->dlpi_addr + segment.p_vaddr);
    const auto begin = first / page * page;
    const auto end = (first + segment.p_memsz) / page * page;
    // Refused, for instance where pages are locked, it changes nothing.
    if (begin < end) (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

// The loader's list, not /proc/self/maps: nothing in it can be unmapped while it is gone through.
void let_go_of_code() { ::dl_iterate_phdr(let_go_of, nullptr); }

}  // namespace pqcmav
