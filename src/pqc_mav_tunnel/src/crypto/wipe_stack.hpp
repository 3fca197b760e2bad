// SPDX-License-Identifier: Apache-2.0
// What a handshake leaves on the stack of the thread that computed it: frames of liboqs and OpenSSL with pieces of
// secrets, which no destructor knows of.
#pragma once

namespace pqcmav {

/// Wipes the part of this thread's stack that no running function uses, however deep it was used before, and gives
/// all but a small piece of it back to the system. For threads with a stack of their own (BigThread); call it once a
/// handshake's secrets are no longer needed, from as high up as possible. On the main thread only the small piece is
/// wiped.
void wipe_stack() noexcept;

}  // namespace pqcmav
