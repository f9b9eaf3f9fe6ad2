// SPDX-License-Identifier: Apache-2.0
// The conversation with the host that has the files of a push: relay_files.py there says the sums of the
// blocks, serves other hosts, and gives podrun what it has to send on.
#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <utility>

#include <asio/this_coro.hpp>
#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/transfer/side_work.hpp"
#include "podrun/transfer/spread/peer_address.hpp"
#include "podrun/transfer/spread/scripts.hpp"
#include "podrun/transfer/spread/spread_member.hpp"
#include "podrun/transfer/transfer_failures.hpp"

namespace podrun::transfer {
namespace {

using link::Cause;
using link::HostError;

std::optional<std::string> from_hex(std::string_view text) {
  std::string bytes;
  for (; text.size() >= 2; text.remove_prefix(2)) {
    unsigned char byte = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + 2, byte, 16);
    if (error != std::errc() || end != text.data() + 2) return std::nullopt;
    bytes += static_cast<char>(byte);
  }
  return text.empty() ? std::optional(bytes) : std::nullopt;
}

}  // namespace

asio::awaitable<void> SpreadGroup::serve(PushTalk& talk, std::size_t host, SpreadShare& share,
                                         bool may_listen) {
  const std::shared_ptr<SpreadGroup> self = shared_from_this();
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const auto member = std::make_shared<Member>(Member{.talk = talk,
                                                      .host = host,
                                                      .digest = DigestKind::sha256,
                                                      .trailer = {},
                                                      .share = share,
                                                      .changed = Event(executor),
                                                      .sums = std::numeric_limits<std::uint64_t>::max(),
                                                      .has_trailer = true,
                                                      .may_listen = may_listen});
  server_ = member;
  may_leave_ = false;
  tell_.changed();  // another group may wait already
  asio::awaitable<void> writing = write(member);
  asio::awaitable<void> reading = attend(member, read_server(member));
  co_await write_while(talk.stream(), std::move(writing), std::move(reading));
}

void SpreadGroup::leave() {
  may_leave_ = true;
  end_server();
}

bool SpreadGroup::needs_server() const {
  return of_host_ && server_.expired() && (!members_.empty() || of_host_->wants_digest());
}

void SpreadGroup::end_server() {
  const std::shared_ptr<Member> server = server_.lock();
  if (!server || !may_leave_ || server->has_ended || members_.size() != 1) return;
  if (of_host_->wants_digest()) return;
  if (!std::exchange(server->is_leaving, true)) server->talk.close_write();
}

asio::awaitable<void> SpreadGroup::read_server(std::shared_ptr<Member> member) {
  try {
    for (;;) {
      std::string answer = co_await member->talk.answer();
      co_await take_of_server(*member, std::move(answer));
    }
  } catch (const HostError& error) {
    if (member->is_leaving) co_return;
    if (member->failed.empty() || error.failure().cause != Cause::ended_early) throw;
  }
  throw HostError({kCopying, kNotCopied, member->failed});
}

asio::awaitable<void> SpreadGroup::take_of_server(Member& member, std::string answer) {
  std::string_view words = answer;
  const std::string_view what = take_part(words, ' ');
  if (member.way == Member::Way::unknown) {
    if (what != "relay") refuse_answer(answer);
    co_await greet_server(member, words);
  } else if (what == "sums") {
    take_sum(words, answer);
  } else if (what == "digest") {
    const std::string_view kind = take_part(words, ' ');
    if (of_host_->wants_digest()) ++member.served;
    of_host_->take_digest(kind == "sha256" ? DigestKind::sha256 : DigestKind::blake2b, std::string(words));
    tell_.changed();
    end_server();
  } else if (what == "data") {
    const std::uint64_t offset = number_in(take_part(words, ' '), answer);
    const std::uint64_t size = number_in(words, answer);
    if (size > Archive::kBlock) refuse_answer(answer);
    const std::string bytes = co_await member.talk.bytes(size);
    if (!of_host_->take_data(offset, bytes)) refuse_answer(answer);
    ++member.served;
    for (auto& [host, other] : members_) other->changed.notify();
  } else if (what == "failed") {
    member.failed = words;
  } else if (!take_of_parent(member, what, words, answer)) {
    refuse_answer(answer);
  }
}

/// `ADDRESS`, or `- REASON`
asio::awaitable<void> SpreadGroup::greet_server(Member& member, std::string_view words) {
  const std::string_view address = take_part(words, ' ');
  if (!words.empty()) {
    throw HostError({kCopying, Cause::other,
                     fmt::format("it cannot serve its files: {} (podrun pull, then podrun push)", words)});
  }
  std::string plan;
  std::function<void()> pack = [&] { plan = of_host_->plan(); };
  co_await run_on_thread(std::move(pack));
  static const Chunk program = packed(kRelayFilesScript);
  member.way = Member::Way::relay;
  member.address = peer_address(address, member.share.reached);
  member.frames = program.bytes();
  member.frames += fmt::format("start {} {} {}\n", id_, member.host, archive_->size());
  member.frames += key_frame();
  member.frames += fmt::format("plan {}\n{}", plan.size(), plan);
  sums_end_ = 0;
  allow_sums();
  of_host_->begin([this, host = member.host](const std::string& frame) { order(host, frame); });
  for (auto& [host, other] : members_) other->changed.notify();  // they ask again
  member.is_told = true;
  const bool can_relay = member.may_listen && !member.address.empty();
  on(event::SpreadReady{member.host, member.address, can_relay, true});
  member.changed.notify();
}

/// `INDEX HEX`. Another attempt of the host says them again.
void SpreadGroup::take_sum(std::string_view words, std::string_view answer) {
  const std::uint64_t index = number_in(take_part(words, ' '), answer);
  const std::uint64_t known = sums_.size() / kSumSize;
  const std::uint64_t begin = index * kSpreadBlock;
  const std::optional<std::string> sum = from_hex(words);
  if (index > known || index >= sums_end_ || begin >= archive_->size() || !sum || sum->size() != kSumSize)
    refuse_answer(answer);
  const std::uint64_t end = std::min(begin + kSpreadBlock, archive_->size());
  const std::string both = of_host_->sum_with_heads(begin, end, *sum);
  if (index < known && std::string_view(sums_).substr(index * kSumSize, kSumSize) != both) {
    throw HostError({kCopying, kNotCopied, "its files changed meanwhile (run the command again)"});
  }
  if (index < known) return;
  sums_ += both;
  for (auto& [host, member] : members_) member->changed.notify();
}

}  // namespace podrun::transfer
