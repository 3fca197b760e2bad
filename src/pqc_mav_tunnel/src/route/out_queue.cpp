// SPDX-License-Identifier: Apache-2.0
#include "route/out_queue.hpp"

namespace pqcmav {

std::size_t OutQueue::push(ByteView datagram) {
  if (datagram.empty()) return 0;
  std::size_t dropped = 0;
  while (waiting() + datagram.size() > most_) {
    if (!drop_oldest()) return dropped + 1;
    ++dropped;
  }
  if (begin_ > most_) {  // what was taken is cleared away now and then, not each time
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
  append(bytes_, datagram);
  sizes_.push_back(datagram.size());
  return dropped;
}

/// False when there is none that may go.
bool OutQueue::drop_oldest() {
  const std::size_t index = begun_ ? 1 : 0;
  if (sizes_.size() <= index) return false;
  const auto from = bytes_.begin() + static_cast<std::ptrdiff_t>(begin_ + (begun_ ? sizes_.front() : 0));
  bytes_.erase(from, from + static_cast<std::ptrdiff_t>(sizes_[index]));
  sizes_.erase(sizes_.begin() + static_cast<std::ptrdiff_t>(index));
  return true;
}

std::size_t OutQueue::taken(std::size_t bytes) noexcept {
  std::size_t complete = 0;
  begin_ += bytes;
  while (!sizes_.empty() && bytes >= sizes_.front()) {
    bytes -= sizes_.front();
    sizes_.pop_front();
    begun_ = false;
    ++complete;
  }
  if (bytes > 0) {
    sizes_.front() -= bytes;
    begun_ = true;
  }
  if (sizes_.empty()) {
    bytes_.clear();
    begin_ = 0;
  }
  return complete;
}

std::size_t OutQueue::clear() noexcept {
  const auto count = sizes_.size();
  bytes_.clear();
  sizes_.clear();
  begin_ = 0;
  begun_ = false;
  return count;
}

}  // namespace pqcmav
