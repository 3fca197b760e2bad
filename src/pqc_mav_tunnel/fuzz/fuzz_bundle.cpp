// SPDX-License-Identifier: Apache-2.0
// The content of a bundle: what parses lies inside it, in order, and is the same when it is written again; what is cut
// off does not parse as the whole did.
#include "fuzz_support.hpp"
#include "session/bundle.hpp"

using namespace pqcmav;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes content(data, data + size);
  BundleParts parts;
  if (!parse_bundle(content, parts)) {
    require(parts.count == 0);
    return 0;
  }
  require(parts.count >= 1 && parts.count <= kBundleMost);
  Bytes again;
  for (std::size_t i = 0; i < parts.count; ++i) {
    std::uint8_t prefix[2] = {};
    write_bundle_prefix(parts.items[i].size(), prefix);
    append(again, ByteView(prefix, bundle_prefix(parts.items[i].size())));
    append(again, parts.items[i]);
  }
  require(again == content);
  const auto count = parts.count;
  content.pop_back();
  require(!parse_bundle(content, parts) || parts.count < count);
  return 0;
}
