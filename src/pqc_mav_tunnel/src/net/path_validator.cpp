// SPDX-License-Identifier: Apache-2.0
#include "net/path_validator.hpp"

#include <algorithm>
#include <utility>

#include "crypto/kdf.hpp"

namespace pqcmav {
namespace {

constexpr std::size_t kChallengeSize = kOverhead + 3 + 8;  // with the long header
// An unvalidated first path gave at least an M3: three times its least size, without the two M4 that answered it.
constexpr std::size_t kFinishBytes = 128;
constexpr std::uint64_t kFirstWatch = to_ns(milliseconds(100));
constexpr std::uint64_t kSuspectKept = kPathWatchUnanswered * to_ns(kPathWatch);

}  // namespace

void PathValidator::Credit::came(std::size_t bytes) noexcept {
  bytes_in_ += bytes;
  ++in_;
}

bool PathValidator::Credit::covers(std::size_t bytes, std::size_t datagrams) const noexcept {
  return bytes_out_ + bytes < kUnvalidatedFactor * bytes_in_ && out_ + datagrams <= kUnvalidatedFactor * in_;
}

bool PathValidator::Credit::spend(std::size_t bytes) noexcept {
  if (!covers(bytes)) return false;
  bytes_out_ += bytes;
  ++out_;
  return true;
}

PathValidator::PathValidator(RandomSource random) : random_(std::move(random)) {}

void PathValidator::reset(const SockAddr& path, bool validated, std::uint64_t now) {
  path_ = path;
  path_validated_ = false;
  path_credit_ = {};
  proven_.clear();
  ignored_.clear();
  validation_.reset();
  suspect_.reset();
  watch_unanswered_ = 0;
  sent_.fill({});
  due_.clear();
  if (validated) {
    watch_next_ = kNever;
    set_validated();
  } else {
    watch_next_ = now;
    for (int i = 0; i < 3; ++i) path_credit_.came(kFinishBytes / 3);
  }
}

void PathValidator::on_packet(const SockAddr& from, bool newest, std::size_t size, std::uint64_t now,
                              std::uint64_t pto_ns) {
  if (path_.empty()) return;
  if (from == path_) {
    if (!path_validated_) path_credit_.came(size);
    if (newest) suspect_.reset();
    return;
  }
  if (validation_) {  // one at a time
    if (from == validation_->candidate) validation_->credit.came(size);
    return;
  }
  if (!newest) return;
  if (!is_ignored(from, now)) return start(from, size, now, pto_ns);
  if (!suspect_ && path_validated_) {
    watch_unanswered_ = 0;
    watch_next_ = now + to_ns(kPathWatch);
  }
  suspect_ = Suspect{from, now, pto_ns, size};
}

void PathValidator::on_response(const ByteArray<8>& challenge, std::uint64_t now) {
  const auto found = std::ranges::find_if(
      sent_, [&](const Sent& sent) { return !sent.to.empty() && constant_time_equal(sent.value, challenge); });
  if (found == sent_.end()) return;
  const auto to = found->to;
  *found = {};
  if (to == path_) {
    set_validated();
    watch_unanswered_ = 0;
    if (validation_) validation_->path_lives = true;
  } else if (validation_ && to == validation_->candidate) {
    validation_->candidate_lives = true;
  }
  // Once the senior has answered, what is still missing cannot change the outcome.
  if (validation_ && (candidate_is_senior() ? validation_->candidate_lives : validation_->path_lives)) decide(now);
}

std::optional<PathValidator::Challenge> PathValidator::poll(std::uint64_t now) {
  if (due_.empty()) {
    if (!validation_ && now >= watch_next_) watch(now);
    if (validation_ && now >= validation_->next) next_round(now);
  }
  if (due_.empty()) return std::nullopt;
  const auto out = due_.front();
  due_.erase(due_.begin());
  return out;
}

std::uint64_t PathValidator::deadline() const noexcept {
  if (!due_.empty()) return 0;
  return validation_ ? validation_->next : watch_next_;
}

const SockAddr* PathValidator::copy_to(std::size_t bytes) noexcept {
  if (!validation_) return nullptr;
  // Room for the next challenge stays, or copies of large packets would keep the address from ever being proven.
  const bool more = validation_->rounds < kPathChallenges;
  if (!validation_->credit.covers(bytes + (more ? kChallengeSize : 0), more ? 2 : 1)) return nullptr;
  validation_->credit.spend(bytes);
  return &validation_->candidate;
}

bool PathValidator::may_send(std::size_t bytes) noexcept { return path_validated_ || path_credit_.spend(bytes); }

void PathValidator::start(const SockAddr& candidate, std::size_t size, std::uint64_t now, std::uint64_t pto_ns) {
  Validation validation;
  validation.candidate = candidate;
  validation.credit.came(size);
  // The last challenge has a time-out's worth of time for its answer, like all others.
  const auto span = std::max(3 * pto_ns, to_ns(kPathDecisionMin));
  validation.last_wait = pto_ns;
  validation.interval = (span - pto_ns) / (kPathChallenges - 1);
  validation.next = now;
  validation_ = validation;
  suspect_.reset();
  sent_.fill({});  // an answer to an earlier challenge says nothing about now
}

/// One challenge to each of the two, or the end.
void PathValidator::next_round(std::uint64_t now) {
  if (validation_->rounds == kPathChallenges) return decide(now);
  ++validation_->rounds;
  validation_->next = now + (validation_->rounds < kPathChallenges ? validation_->interval : validation_->last_wait);
  if (may_send(kChallengeSize)) challenge(path_);
  if (validation_->credit.spend(kChallengeSize)) challenge(validation_->candidate);
}

/// The path alone is challenged: until it is validated, and while an ignored address may after all be the drone's.
void PathValidator::watch(std::uint64_t now) {
  if (suspect_ && now - suspect_->last >= kSuspectKept) suspect_.reset();
  if (suspect_ && watch_unanswered_ >= kPathWatchUnanswered) {
    const auto suspect = *suspect_;
    return start(suspect.address, suspect.size, now, suspect.pto);
  }
  if (!suspect_ && path_validated_) {
    watch_next_ = kNever;
    return;
  }
  ++watch_unanswered_;
  watch_next_ = now + (path_validated_ || watch_unanswered_ >= kPathChallenges ? to_ns(kPathWatch) : kFirstWatch);
  if (may_send(kChallengeSize)) challenge(path_);
}

void PathValidator::decide(std::uint64_t now) {
  const bool candidate_lives = validation_->candidate_lives, path_lives = validation_->path_lives;
  const bool move = candidate_lives && (!path_lives || candidate_is_senior());
  const auto candidate = validation_->candidate, old = path_;
  validation_.reset();
  due_.clear();
  if (move) {
    move_to(candidate);
    if (path_lives) ignore(old, now);
  } else {
    ignore(candidate, now);
    ++refused_;
  }
  watch_unanswered_ = 0;
  watch_next_ = path_validated_ ? kNever : now + to_ns(kPathWatch);
}

void PathValidator::ignore(const SockAddr& address, std::uint64_t now) {
  std::erase_if(ignored_, [&](const Ignored& entry) { return entry.address == address; });
  if (ignored_.size() == kPathsIgnored) ignored_.erase(ignored_.begin());  // the one whose time is over first
  ignored_.push_back({address, now + to_ns(kPathIgnored)});
}

void PathValidator::move_to(const SockAddr& path) {
  path_ = path;
  ++changes_;
  std::erase_if(ignored_, [&](const Ignored& entry) { return entry.address == path; });
  set_validated();
}

void PathValidator::set_validated() {
  path_validated_ = true;
  if (seniority(path_) < proven_.size()) return;
  // The oldest stay: who takes the path again and again must not make the drone's own address forgotten.
  if (proven_.size() == kPathsRemembered) proven_.pop_back();
  proven_.push_back(path_);
}

void PathValidator::challenge(const SockAddr& to) {
  Challenge out{to, {}};
  random_(out.value);
  sent_[sent_at_++ % sent_.size()] = {to, out.value};
  due_.push_back(out);
}

std::size_t PathValidator::seniority(const SockAddr& address) const noexcept {
  return static_cast<std::size_t>(std::ranges::find(proven_, address) - proven_.begin());
}

bool PathValidator::candidate_is_senior() const noexcept {
  return seniority(validation_->candidate) < seniority(path_);
}

bool PathValidator::is_ignored(const SockAddr& address, std::uint64_t now) const noexcept {
  return std::ranges::any_of(ignored_,
                             [&](const Ignored& entry) { return now < entry.until && entry.address == address; });
}

}  // namespace pqcmav
