// SPDX-License-Identifier: Apache-2.0
#include "control/handed_out.hpp"

#include <algorithm>

#include "control/client_attempt.hpp"
#include "handshake/restart_key.hpp"

namespace pqcmav {
namespace {

constexpr std::size_t kTokensKept = 4;  // two for each of two sessions
constexpr std::size_t kRestartSize = 1 + kSessionIdSize + kRestartTokenSize;

}  // namespace

void RestartTokens::know(const SessionId& session, const RestartToken& token) {
  std::erase_if(tokens_, [&](const Token& each) { return each.session == session; });
  if (tokens_.size() == kTokensKept) tokens_.erase(tokens_.begin());
  tokens_.push_back({session, sha256({token.token})});
}

RestartTokens::Judged RestartTokens::judge(ByteView datagram, std::uint64_t now) {
  if (datagram.size() != kRestartSize) return {HandshakeDrop::malformed, {}};
  const auto session = datagram.subspan(1, kSessionIdSize);
  const auto token =
      std::ranges::find_if(tokens_, [&](const Token& each) { return std::ranges::equal(each.session, session); });
  if (token == tokens_.end()) return {HandshakeDrop::unknown, {}};
  if (!constant_time_equal(sha256({datagram.subspan(1 + kSessionIdSize)}), token->hash))
    return {HandshakeDrop::tag, {}};
  // Once per session. Until it has another one, its packets draw more of them, which are no stranger's.
  if (token->taken_ns != 0)
    return {now - token->taken_ns <= kEndedEchoNs ? HandshakeDrop::repeated : HandshakeDrop::unknown, {}};
  token->taken_ns = now;
  return {HandshakeDrop::taken, token->session};
}

ReturnTicket ticket_of(const ReturnGrant& grant) {
  ReturnTicket out;
  out.prefix = return_proof_prefix(grant.serial, grant.address_tag);
  out.key = Secret<32>(grant.return_key.first<32>());
  return out;
}

}  // namespace pqcmav
