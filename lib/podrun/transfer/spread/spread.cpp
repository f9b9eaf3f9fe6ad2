// SPDX-License-Identifier: Apache-2.0
// The groups of a spread: which hosts take part in one, and which one the host that has the files serves.
#include "podrun/transfer/spread/spread.hpp"

#include <algorithm>
#include <utility>

#include <asio/this_coro.hpp>
#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/transfer/spread/host_archive.hpp"
#include "podrun/transfer/spread/scripts.hpp"
#include "podrun/transfer/spread/spread_group.hpp"
#include "podrun/transfer/transfer_failures.hpp"

namespace podrun::transfer {

using link::Cause;
using link::HostError;

Spread::Spread(SpreadRequest request, std::size_t hosts, HostWaits& waits,
               std::function<bool()> are_all_staged)
    : request_(std::move(request)),
      waits_(waits),
      are_all_staged_(std::move(are_all_staged)),
      was_silent_(hosts),
      arrived_(hosts) {}

void Spread::invite(std::size_t host, const Archive& archive, SpreadShare& share) {
  share.is_spread = is_wanted(archive) && !was_silent_[host];
  if (was_silent_[host]) {
    share.source = {.reason = HereReason::cannot_relay};
    share.lost_because = "its program was silent";
  }
  if (!share.is_spread) arrive(host);
}

/// The program that hands on is sent too, so that less is sent without it.
bool Spread::is_wanted(const Archive& archive) const {
  constexpr std::size_t kLeast = 64 * 1024;
  const bool is_wanted = request_.spreading == Spreading::wanted ||
                         (request_.source_host && request_.spreading == Spreading::possible);
  return is_wanted && arrived_.size() > 1 && archive.size() >= kLeast;
}

void Spread::arrive(std::size_t host) {
  arrived_[host] = true;
  last_arrival_ = SpreadPlan::TimePoint::clock::now();
  hold_back();
}

/// The first host must not get far ahead of those that will soon ask for the same.
void Spread::hold_back() {
  const bool are_all_here = std::find(arrived_.begin(), arrived_.end(), false) == arrived_.end();
  for (const std::shared_ptr<SpreadGroup>& group : groups()) group->hold_back(last_arrival_, are_all_here);
}

bool Spread::serves(std::size_t host, const SpreadShare& share) const {
  return share.is_spread || was_silent_[host] || request_.source_host.has_value();
}

asio::awaitable<std::string> Spread::stage(PushTalk& talk, std::size_t host, std::shared_ptr<Archive> archive,
                                           DigestKind digest, std::string trailer, SpreadShare& share) {
  const std::shared_ptr<SpreadGroup> group = group_of(co_await asio::this_coro::executor, archive);
  std::string answer;
  try {
    answer = co_await group->stage(talk, host, digest, std::move(trailer), share);
  } catch (const HostError& error) {
    const link::Failure& failure = error.failure();
    was_silent_[host] = was_silent_[host] || (failure.cause == Cause::no_answer && failure.stage == kCopying);
    throw;
  }
  share.sent = share.total;
  co_await archive->finish_digest(digest);
  while (!archive->digest(digest)) co_await waits_.wait(host);
  co_return answer;
}

std::shared_ptr<SpreadGroup> Spread::group_of(const asio::any_io_executor& executor,
                                              const std::shared_ptr<Archive>& archive) {
  for (const std::shared_ptr<SpreadGroup>& group : groups()) {
    if (group->archive() == archive) return group;
  }
  auto group =
      std::make_shared<SpreadGroup>(executor, archive, arrived_.size(), request_.limits,
                                    SpreadGroup::Tell{.arrived = [this](std::size_t host) { arrive(host); },
                                                      .changed = [this] { finish(); }});
  std::erase_if(groups_, [](const std::weak_ptr<SpreadGroup>& each) { return each.expired(); });
  groups_.push_back(group);
  hold_back();
  return group;
}

std::vector<std::shared_ptr<SpreadGroup>> Spread::groups() const {
  std::vector<std::shared_ptr<SpreadGroup>> found;
  for (const std::weak_ptr<SpreadGroup>& each : groups_) {
    if (std::shared_ptr<SpreadGroup> group = each.lock()) found.push_back(std::move(group));
  }
  return found;
}

asio::awaitable<void> Spread::serve(supervisor::Supervised& supervised, SpreadShare& share) {
  static const Chunk script{std::string(kServeScript)};
  const std::size_t own = *request_.source_host;
  for (bool has_switch = false;;) {
    const std::shared_ptr<SpreadGroup> group = group_to_serve();
    if (!group && !are_all_staged_()) {
      co_await waits_.wait(own);
      continue;
    }
    if (!group && has_switch) co_return;
    std::vector<std::string> words = ServeWords{.directory = supervised.directory()}.list();
    asio::steady_timer limit =
        stop_later(co_await asio::this_coro::executor,
                   [&supervised](const link::Failure& failure) { supervised.stop(failure); });
    supervisor::StartedProgram program = co_await supervised.start_program(script, std::move(words));
    PushTalk talk(std::move(program), {});
    if (group) {
      limit.cancel();
      co_await group->serve(talk, own, share, request_.spreading != Spreading::impossible);
    } else {
      co_await talk.answer();  // the switch is there
    }
    has_switch = true;
  }
}

/// A group that waits; nothing if none does.
std::shared_ptr<SpreadGroup> Spread::group_to_serve() const {
  for (const std::shared_ptr<SpreadGroup>& group : groups()) {
    if (group->needs_server()) return group;
  }
  return nullptr;
}

/// The server leaves when no more hosts of its group can come, or another group waits. The one that waits for
/// a group sees it.
void Spread::finish() {
  if (group_to_serve() || are_all_staged_()) {
    for (const std::shared_ptr<SpreadGroup>& group : groups()) group->leave();
  }
  waits_.report_change();
}

asio::steady_timer Spread::stop_later(const asio::any_io_executor& executor,
                                      std::function<void(link::Failure)> stop) const {
  const auto limit = std::chrono::ceil<std::chrono::seconds>(request_.limits.silent);
  asio::steady_timer timer(executor, limit);
  timer.async_wait([stop = std::move(stop), limit](const std::error_code& cancelled) {
    if (!cancelled) stop({.stage = kCopying, .cause = Cause::no_answer, .after = limit});
  });
  return timer;
}

std::shared_ptr<Archive> make_host_archive(const LocalTree& tree, std::vector<std::size_t> chosen) {
  return std::make_shared<HostArchive>(tree, std::move(chosen));
}

std::string why_from_here(const SpreadShare& share, const std::function<std::size_t(std::size_t)>& worker) {
  std::string because = output::escape_controls(lower_first(share.lost_because));
  if (!because.empty()) because.insert(0, ": ");
  const std::size_t lost = share.source.lost ? worker(*share.source.lost) : 0;
  switch (share.source.reason) {
    case HereReason::none:
    case HereReason::seed:
      break;
    case HereReason::cannot_relay:
      return "cannot hand on" + because;
    case HereReason::too_late:
      return "found no host that could serve it" + because;
    case HereReason::nothing_works:
      if (!share.source.lost) return "did not try, since no host could reach another";
      return "could reach no other host" + because;
    case HereReason::unreachable:
      return fmt::format("could not reach [{}]{}", lost, because);
    case HereReason::too_slow:
      return "held up others";
    case HereReason::lost_parent:
      return fmt::format("lost [{}]{}", lost, because);
  }
  return {};
}

}  // namespace podrun::transfer
