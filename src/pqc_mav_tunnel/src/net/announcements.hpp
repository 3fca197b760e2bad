// SPDX-License-Identifier: Apache-2.0
// What an end says with each control frame until the other has got it (docs/protocol.md section 6).
#pragma once

#include <cstddef>
#include <vector>

#include "bytes.hpp"
#include "session/control_frame.hpp"

namespace pqcmav {

class Announcements {
 public:
  /// One TLV, and the answer that ends it.
  struct Value {
    Bytes tlv;
    Got answer;
  };
  /// Of a control message that is answered by GOT.
  static Value of(const Control& control);

  void set(std::vector<Value> values) { open_ = std::move(values); }
  /// In place of an earlier one of its type.
  void put(Value value) {
    std::erase_if(open_, [&](const Value& each) { return each.answer.type == value.answer.type; });
    open_.push_back(std::move(value));
  }
  void on_got(const Got& got) {
    std::erase_if(open_, [&](const Value& each) { return each.answer == got; });
  }
  /// Appends what is open after `used` bytes of `out`, as far as there is room; returns the new fill.
  std::size_t append_to(MutableBytes out, std::size_t used) const noexcept;
  [[nodiscard]] bool empty() const noexcept { return open_.empty(); }

 private:
  std::vector<Value> open_;
};

}  // namespace pqcmav
