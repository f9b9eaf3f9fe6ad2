// SPDX-License-Identifier: Apache-2.0
// The conversation with the relays of a push that spreads. relay.py has the frames and the answers; where the
// files are a host's, relay_files.py there is one of the relays.
#include <zlib.h>

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include <asio/this_coro.hpp>
#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/supervisor/supervised.hpp"
#include "podrun/transfer/side_work.hpp"
#include "podrun/transfer/spread/one_time_key.hpp"
#include "podrun/transfer/spread/peer_address.hpp"
#include "podrun/transfer/spread/scripts.hpp"
#include "podrun/transfer/spread/spread_member.hpp"
#include "podrun/transfer/transfer_failures.hpp"

namespace podrun::transfer {

using link::Cause;
using link::HostError;

void refuse_answer(std::string_view answer) {
  throw HostError({kCopying, Cause::unexpected_answer, std::string(answer)});
}

std::uint64_t number_in(std::string_view word, std::string_view answer) {
  const std::optional<std::size_t> parsed = to_number(word);
  if (!parsed) refuse_answer(answer);
  return *parsed;
}

Chunk packed(std::string_view program) {
  uLongf size = ::compressBound(program.size());
  std::string bytes(size, '\0');
  const auto* from = reinterpret_cast<const Bytef*>(program.data());
  auto* to = reinterpret_cast<Bytef*>(bytes.data());
  if (::compress2(to, &size, from, program.size(), Z_BEST_COMPRESSION) != Z_OK) throw std::bad_alloc();
  bytes.resize(size);
  return Chunk(fmt::format("{}\n{}", size, bytes));
}

std::string SpreadGroup::key_frame() const {
  return fmt::format("key {}\n{}", key_.text().size(), key_.text());
}

asio::awaitable<bool> SpreadGroup::Member::wait() {
  waits = true;
  co_await changed.wait();
  waits = false;
  co_return !has_ended;
}

SpreadGroup::SpreadGroup(const asio::any_io_executor& executor, std::shared_ptr<Archive> archive,
                         std::size_t hosts, const SpreadWatch::Limits& limits, Tell tell)
    : archive_(std::move(archive)),
      of_host_(dynamic_cast<HostArchive*>(archive_.get())),
      tell_(std::move(tell)),
      key_(make_one_time_key()),
      id_(supervisor::random_id()),
      plan_(hosts, archive_->size(), of_host_ ? SpreadPlan::First::host : SpreadPlan::First::podrun),
      watch_(limits),
      timer_(executor),
      watch_timer_(executor) {}

asio::awaitable<std::string> SpreadGroup::stage(PushTalk& talk, std::size_t host, DigestKind digest,
                                                std::string trailer, SpreadShare& share) {
  const std::shared_ptr<SpreadGroup> self = shared_from_this();
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const auto member = std::make_shared<Member>(Member{.talk = talk,
                                                      .host = host,
                                                      .digest = digest,
                                                      .trailer = std::move(trailer),
                                                      .share = share,
                                                      .changed = Event(executor)});
  if (!share.is_spread) member->way = Member::Way::direct;
  if (of_host_) of_host_->want_digest(digest);
  asio::awaitable<void> writing = write(member);
  asio::awaitable<void> reading = attend(member, read(member));
  co_await write_while(talk.stream(), std::move(writing), std::move(reading));
  co_return member->staged;
}

/// The host is a member until its conversation ends, however that is.
asio::awaitable<void> SpreadGroup::attend(std::shared_ptr<Member> member,
                                          asio::awaitable<void> conversation) {
  members_[member->host] = member;
  watch_soon();
  std::exception_ptr error;
  try {
    co_await std::move(conversation);
  } catch (...) {
    error = std::current_exception();
  }
  forget(member);
  if (error) std::rethrow_exception(error);
}

asio::awaitable<void> SpreadGroup::read(std::shared_ptr<Member> member) {
  if (needs_server()) tell_.changed();
  if (member->way == Member::Way::direct) {
    member->share.began = std::chrono::steady_clock::now();
    member->is_told = true;
    on(event::SpreadReady{member->host, {}, false});
  }
  while (member->staged.empty()) {
    const std::string answer = co_await next_answer(*member);
    take(*member, answer);
  }
}

void SpreadGroup::forget(const std::shared_ptr<Member>& member) {
  member->has_ended = true;
  member->changed.notify();
  members_.erase(member->host);
  watch_.forget(member->host);
  end_server();
  member->share.source = plan_.source(member->host);
  if (server_.lock() == member) of_host_->lost();
  if (!member->is_told) return;
  if (!member->staged.empty()) {
    on(event::Done{member->host});
    return;
  }
  needs_sums_ = true;  // a relay counts the silence of its parent once it knows the sum of the next block
  on(event::Gone{member->host});
  for (auto& [host, other] : members_) other->changed.notify();
}

/// Throws HostError with what the relay said of its failure, which tar notices afterwards.
asio::awaitable<std::string> SpreadGroup::next_answer(Member& member) {
  try {
    co_return co_await member.talk.answer();
  } catch (const HostError& error) {
    if (member.failed.empty() || error.failure().cause != Cause::other) throw;
  }
  fail_to_hand_on(member.failed);
}

void SpreadGroup::fail_to_hand_on(const std::string& why) const {
  const char* const hint = of_host_ ? "" : " (leave out --spread)";
  throw HostError({kCopying, Cause::other, fmt::format("handing the files on failed: {}{}", why, hint)});
}

void SpreadGroup::take(Member& member, std::string_view answer) {
  std::string_view words = answer;
  const std::string_view what = take_part(words, ' ');
  const auto next_number = [&] { return number_in(take_part(words, ' '), answer); };
  if (member.way == Member::Way::unknown) {
    if (what != "relay") refuse_answer(answer);
    greet(member, words);
  } else if (what == "staged") {
    member.staged = words;
  } else if (member.way == Member::Way::direct) {
    refuse_answer(answer);
  } else if (what == "want") {
    const std::uint64_t from = next_number();
    feed(member, from, next_number());
  } else if (what == "joined") {
    if (next_number() != member.parent) refuse_answer(answer);
    member.has_joined = true;
    member.share.parent = member.parent;
    on(event::Joined{member.host});
  } else if (what == "at") {
    member.share.sent = std::max(member.share.sent, std::min(next_number(), archive_->size()));
    on(event::At{member.host, member.share.sent});
    member.changed.notify();  // it may get further sums
  } else if (what == "lost") {
    const std::uint64_t offset = next_number();
    member.share.parent.reset();
    member.share.lost_because = words == "left" ? member.told_to_leave : words.substr(0, kLongestReason);
    on(event::LostParent{member.host, offset, !member.has_joined});
  } else if (what == "slow") {
    on(event::Slow{member.host});
  } else if (what == "failed") {
    if (words != "tar has closed its input") member.failed = words;
  } else if (!take_of_parent(member, what, words, answer)) {
    refuse_answer(answer);
  }
}

/// Takes an answer of a host that serves others; returns false for any other answer.
bool SpreadGroup::take_of_parent(Member& member, std::string_view what, std::string_view words,
                                 std::string_view answer) {
  if (what == "port") {
    constexpr std::uint16_t kLeast = 1024;  // the kernel chooses none below for a program of a user
    const std::optional<std::uint16_t> port = to_port(words);
    if (!port || *port < kLeast) refuse_answer(answer);
    member.port = words;
    on(event::Port{member.host});
  } else if (what == "deaf") {
    deaf_because_ = words.substr(0, kLongestReason);
    on(event::Deaf{member.host});
  } else if (what == "dropped") {
    const std::uint64_t child = number_in(take_part(words, ' '), answer);
    on(event::Dropped{member.host, child, words.starts_with("held up")});
  } else {
    return false;
  }
  return true;
}

/// `ADDRESS`, or `- REASON`
void SpreadGroup::greet(Member& member, std::string_view words) {
  const std::string_view address = take_part(words, ' ');
  member.share.began = std::chrono::steady_clock::now();
  member.way = words.empty() ? Member::Way::relay : Member::Way::direct;
  if (member.way == Member::Way::relay) {
    member.address = peer_address(address, member.share.reached);
    static const Chunk program = packed(kRelayScript);
    member.frames = program.bytes();
    member.frames +=
        fmt::format("start {} {} {} {}\n", id_, member.host, archive_->size(), of_host_ ? "heads" : "blocks");
    member.frames += key_frame();
    if (member.address.empty()) member.share.lost_because = "its own address is not known";
  } else {
    member.share.lost_because = words.substr(0, kLongestReason);
  }
  member.is_told = true;
  tell_.arrived(member.host);
  on(event::SpreadReady{member.host, member.address, !member.address.empty()});
  member.changed.notify();
}

void SpreadGroup::feed(Member& member, std::uint64_t from, std::uint64_t to) {
  const bool is_right = member.is_fed && from <= to && to <= archive_->size() && to >= member.allowed;
  if (!is_right) refuse_answer("want");
  if (!member.next) member.next = from;
  member.allowed = to;
  member.changed.notify();
  on(event::At{member.host, from});
}

}  // namespace podrun::transfer
