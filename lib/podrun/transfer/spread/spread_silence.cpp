// SPDX-License-Identifier: Apache-2.0
// Looks at the hosts of a spread each second: one that owes progress and makes none fails, and its children
// leave it before that.
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/transfer/spread/spread_member.hpp"
#include "podrun/transfer/transfer_failures.hpp"

namespace podrun::transfer {
namespace {

constexpr std::chrono::seconds kPeriod{1};

/// The time that a slow disk needs to read so many bytes for their digest.
SpreadWatch::Time time_for_digest(std::uint64_t bytes) {
  constexpr std::uint64_t kBytesInMillisecond = 10'000;
  return SpreadWatch::Time(bytes / kBytesInMillisecond);
}

}  // namespace

/// Lets the host that has the files say sums up to the window of the host that is furthest behind.
void SpreadGroup::allow_sums() {
  const std::shared_ptr<Member> server = server_.lock();
  if (!server || server->way == Member::Way::unknown) return;
  const std::uint64_t count = (archive_->size() + kSpreadBlock - 1) / kSpreadBlock;
  std::optional<std::uint64_t> last;
  for (const auto& [host, member] : members_) {
    if (member != server) last = std::min(last.value_or(count), member->share.sent / kSpreadBlock);
  }
  std::uint64_t end = std::min(count, last.value_or(0) + kSumsAhead);
  end = std::max<std::uint64_t>(end, sums_.size() / kSumSize);  // another attempt says those again
  if (end <= sums_end_ || (end < count && end < sums_end_ + kSumsAhead / 4)) return;
  sums_end_ = end;
  order(server->host, fmt::format("sums {}\n", end));
}

void SpreadGroup::watch_soon() {
  if (members_.size() > 1) return;  // it goes on by itself
  watched_at_ = std::chrono::steady_clock::now();
  watch();
}

void SpreadGroup::watch() {
  const TimePoint now = std::chrono::steady_clock::now();
  const auto step = std::chrono::duration_cast<SpreadWatch::Time>(now - std::exchange(watched_at_, now));
  std::vector<std::shared_ptr<Member>> members;  // what is done may end one
  for (const auto& [host, member] : members_) members.push_back(member);
  for (const std::shared_ptr<Member>& member : members) {
    const SpreadWatch::Look look = look_at(*member);
    const SpreadWatch::Verdict verdict = watch_.look(look, step);
    if (verdict == SpreadWatch::Verdict::is_silent) fail_as_silent(*member, look.allowance);
    if (verdict != SpreadWatch::Verdict::leave_parent) continue;
    const auto limit = std::chrono::ceil<std::chrono::seconds>(watch_.limits().leave);
    const bool is_ahead = look.parent == SpreadStanding::Parent::is_ahead;
    member->told_to_leave =
        is_ahead ? fmt::format("silent for {}", format_duration(limit)) : "it did not send the rest";
    on(event::Stalled{member->host});
  }
  allow_sums();
  watch_timer_.cancel();
  if (members_.empty()) return;
  watch_timer_.expires_after(kPeriod);
  watch_timer_.async_wait([weak = weak_from_this()](const std::error_code& cancelled) {
    const std::shared_ptr<SpreadGroup> self = weak.lock();
    if (!cancelled && self) self->watch();
  });
}

bool SpreadGroup::owes_as_server(const Member& member) const {
  const std::uint64_t sums = sums_.size() / kSumSize;
  const bool has_all_sums = sums * kSpreadBlock >= archive_->size();
  const bool is_waited_for =
      std::ranges::any_of(members_, [](const auto& each) { return each.second->waits; });
  return member.way == Member::Way::unknown || member.is_leaving || of_host_->wants_data() ||
         (has_all_sums && of_host_->wants_digest()) || (is_waited_for && sums < sums_end_);
}

/// A host owes nothing while it waits for podrun, for the host that has the files, or for a child.
SpreadWatch::Look SpreadGroup::look_at(const Member& member) const {
  const SpreadStanding standing = plan_.standing(member.host);
  const bool has_all = member.share.sent >= archive_->size();
  SpreadWatch::Look look{.host = member.host};
  if (server_.lock().get() == &member) {
    look.owes = owes_as_server(member);
    look.progress = {member.written, sums_.size(), member.served, member.is_leaving ? 1U : 0U};
    if (of_host_->wants_digest()) look.allowance = time_for_digest(archive_->size());
    return look;
  }
  look.progress = {member.written, member.share.sent, member.allowed, standing.changes};
  if (member.way == Member::Way::unknown) {
    look.owes = true;
  } else if (has_all) {
    look.owes = !standing.serves_others && (member.has_trailer || member.way == Member::Way::direct);
    look.allowance = time_for_digest(archive_->size());
  } else if (member.way == Member::Way::direct || member.is_fed) {
    look.owes = !member.waits;
  } else {
    look.parent = standing.parent;
    look.owes =
        standing.parent != SpreadStanding::Parent::none && standing.parent != SpreadStanding::Parent::waits;
  }
  return look;
}

/// Another attempt gets the files from podrun, if it was the relay that was silent.
void SpreadGroup::fail_as_silent(Member& member, SpreadWatch::Time allowance) {
  const bool may_help =
      member.way != Member::Way::direct && member.share.is_spread && member.share.sent < archive_->size();
  const SpreadWatch::Time time = watch_.limits().silent + allowance;
  member.talk.stream()->stop({.stage = kCopying,
                              .cause = link::Cause::no_answer,
                              .retry = may_help ? link::Retry::may_help : link::Retry::no,
                              .after = std::chrono::ceil<std::chrono::seconds>(time)});
}

}  // namespace podrun::transfer
