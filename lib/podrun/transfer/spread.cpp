// SPDX-License-Identifier: Apache-2.0
// The conversation with the relays of a push that spreads. relay.py has the frames and the answers; where the
// files are a host's, relay_files.py there is one of the relays.
#include "podrun/transfer/spread.hpp"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <new>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include <asio/ip/address.hpp>
#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/supervisor/supervised.hpp"
#include "podrun/transfer/one_time_key.hpp"
#include "podrun/transfer/scripts.hpp"
#include "podrun/transfer/side_work.hpp"

namespace podrun::transfer {
namespace {

using link::Cause;
using link::HostError;
using link::Stage;

constexpr std::uint64_t kBlock = 1 << 20;  ///< of relay.py
constexpr std::size_t kSum = 32;           ///< SHA-256
/// Sums that are learned at once, before the first of these blocks is sent. Archive keeps more than that.
constexpr std::uint64_t kAhead = 8;
constexpr std::size_t kSumsInFrame = 4096;
constexpr std::size_t kLongestReason = 200;
/// How long the first host is held back after the last one has come: for further hosts, and until those that
/// are here have joined another. SpreadPlan has given up on the latter then.
constexpr std::chrono::milliseconds kForArrivals{2500};
constexpr std::chrono::milliseconds kForJoins{5000};
/// Less than relays keep for hosts that come later.
constexpr std::uint64_t kHeldBack = 24 * kBlock;

using Clock = SpreadPlan::TimePoint::clock;

[[noreturn]] void refuse(std::string_view answer) {
  throw HostError({Stage::copying, Cause::unexpected_answer, std::string(answer)});
}

std::uint64_t number(std::string_view word, std::string_view answer) {
  const std::optional<std::size_t> parsed = to_number(word);
  if (!parsed) refuse(answer);
  return *parsed;
}

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

/// How other hosts reach it; nothing for an address that means something else to each host.
std::string reachable(std::string_view address) {
  std::error_code error;
  const asio::ip::address parsed = asio::ip::make_address(std::string(address), error);
  if (error || parsed.is_unspecified() || parsed.is_multicast()) return {};
  if (parsed.is_v6() && (parsed.to_v6().is_link_local() || parsed.to_v6().scope_id() != 0)) return {};
  return parsed.to_string();
}

/// A line with a size, and the program in so many bytes, in the format of zlib(3): for load_relay.sh.
Chunk packed(std::string_view program) {
  uLongf size = ::compressBound(program.size());
  std::string bytes(size, '\0');
  const auto* from = reinterpret_cast<const Bytef*>(program.data());
  auto* to = reinterpret_cast<Bytef*>(bytes.data());
  if (::compress2(to, &size, from, program.size(), Z_BEST_COMPRESSION) != Z_OK) throw std::bad_alloc();
  bytes.resize(size);
  return Chunk(fmt::format("{}\n{}", size, bytes));
}

}  // namespace

/// A host that gets the archive.
struct Spread::Member {
  enum class Way { unknown, relay, direct };

  PushTalk& talk;
  const std::size_t host;
  const DigestKind digest;
  const std::string trailer;
  HostShare& share;
  Event changed;
  Way way = Way::unknown;  ///< what the archive is written to
  std::string address = {};
  std::string port = {};                             ///< of its last Listen
  std::string frames = {};                           ///< for its relay, that are not written
  std::uint64_t sums = 0;                            ///< that are written
  std::optional<std::size_t> parent = std::nullopt;  ///< the last one that it was told
  bool has_joined = false;                           ///< that one
  bool is_fed = false;
  std::optional<std::uint64_t> next = std::nullopt;  ///< the offset of the next data
  std::uint64_t allowed = 0;                         ///< where its relay wants data to end
  bool has_trailer = false;
  bool is_told = false;    ///< the plan knows it
  bool has_ended = false;  ///< nothing more is written
  bool may_listen = true;
  bool is_leaving = false;  ///< the end of its input was written

  /// For a change; false if nothing more is written.
  asio::awaitable<bool> wait() {
    co_await changed.wait();
    co_return !has_ended;
  }
  std::string failed = {};
  std::string staged = {};
};

/// Ends the part of a member when its conversation ends, however that is.
class Spread::Presence {
 public:
  Presence(Spread& spread, std::shared_ptr<Member> member) : spread_(spread), member_(std::move(member)) {
    spread_.members_[member_->host] = member_;
  }
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;
  ~Presence() {
    member_->has_ended = true;
    member_->changed.notify();
    spread_.members_.erase(member_->host);
    spread_.end_server();
    member_->share.source = spread_.plan_.source(member_->host);
    if (spread_.server_.lock() == member_) spread_.of_host_->lost();
    if (!member_->is_told) return;
    if (!member_->staged.empty()) {
      spread_.on(event::Done{member_->host});
      return;
    }
    spread_.needs_sums_ =
        true;  // a relay counts the silence of its parent once it knows the sum of the next block
    spread_.on(event::Gone{member_->host});
    for (auto& [host, other] : spread_.members_) other->changed.notify();
  }

 private:
  Spread& spread_;
  std::shared_ptr<Member> member_;
};

Spread::Spread(const asio::any_io_executor& executor, std::shared_ptr<Archive> archive, std::size_t hosts,
               Tell tell)
    : archive_(std::move(archive)),
      of_host_(dynamic_cast<HostArchive*>(archive_.get())),
      tell_(std::move(tell)),
      key_(make_one_time_key()),
      id_(supervisor::random_id()),
      plan_(hosts, archive_->size(), of_host_ ? SpreadPlan::First::host : SpreadPlan::First::podrun),
      timer_(executor) {}

asio::awaitable<std::string> Spread::stage(PushTalk& talk, std::size_t host, DigestKind digest,
                                           std::string trailer, HostShare& share) {
  const std::shared_ptr<Spread> self = shared_from_this();
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
  asio::awaitable<void> reading = read(member);
  co_await write_while(talk.stream(), std::move(writing), std::move(reading));
  co_return member->staged;
}

void Spread::hold_back(TimePoint last_arrival, bool are_all_here) {
  last_arrival_ = last_arrival;
  are_all_here_ = are_all_here;
  set_timer();
  wake_fed();
}

bool Spread::holds_back() const {
  const auto age = Clock::now() - last_arrival_;
  if (of_host_) return false;  // hosts can get any part of it at any time
  return (!are_all_here_ && age < kForArrivals) || (!plan_.is_settled() && age < kForJoins);
}

void Spread::wake_fed() {
  for (auto& [host, member] : members_) {
    if (member->is_fed) member->changed.notify();  // it may be held back no longer
  }
}

/// Writes what the member needs next, until its conversation ends.
asio::awaitable<void> Spread::write(std::shared_ptr<Member> member) {
  const std::shared_ptr<Spread> self = shared_from_this();
  bool is_read = true;
  while (is_read && !member->has_ended) {
    if (member->way == Member::Way::direct) {
      std::string trailer = member->trailer;
      PushTalk::Wait wait = [member] { return member->wait(); };
      co_await member->talk.write_archive(*archive_, member->digest, std::move(trailer), member->share,
                                          std::move(wait));
      co_return;
    }
    if (std::exchange(needs_sums_, false)) learn_sums();
    std::string frames;
    if (member->way == Member::Way::relay) {
      frames = std::exchange(member->frames, {});
      frames += sums_for(*member);
      frames += end_for(*member);
    }
    if (!frames.empty()) {
      is_read = co_await member->talk.write(std::move(frames));
    } else if (const bool has_data = co_await write_data(*member); !has_data) {
      co_await member->changed.wait();
    }
  }
}

/// Writes the next data to a member that is fed; false if there is none, or it may not be sent yet.
asio::awaitable<bool> Spread::write_data(Member& member) {
  if (!member.next || *member.next >= member.allowed) co_return false;
  // The first host must not leave, nor drop the beginning, before the others have asked it for that.
  const std::uint64_t held = std::min(kHeldBack, archive_->size() - std::min(kBlock, archive_->size()));
  if (*member.next >= held && holds_back()) co_return false;
  const std::uint64_t offset = *member.next;
  if (offset / kBlock >= sums_.size() / kSum) {
    learn_sums();
    co_return !of_host_;
  }
  if (!archive_->is_here(offset)) co_return false;
  Chunk block = archive_->read(offset, member.digest);
  if (block.size() > member.allowed - offset)
    block = Chunk(std::string(block.bytes().substr(0, member.allowed - offset)));
  *member.next += block.size();
  std::string head = fmt::format("data {} {}\n", offset, block.size());
  bool is_read = co_await member.talk.write(std::move(head));
  if (is_read) is_read = co_await member.talk.write(std::move(block));
  if (!is_read) member.has_ended = true;
  co_return true;
}

/// A frame with sums that the member does not have.
std::string Spread::sums_for(Member& member) {
  const std::uint64_t known = sums_.size() / kSum;
  if (member.sums >= known) return {};
  const std::uint64_t count = std::min<std::uint64_t>(known - member.sums, kSumsInFrame);
  std::string frame = fmt::format("sums {} {}\n", member.sums, count);
  frame += std::string_view(sums_).substr(member.sums * kSum, count * kSum);
  member.sums += count;
  return frame;
}

/// The trailer, once the member has all else from here.
std::string Spread::end_for(Member& member) {
  const bool has_data = !member.is_fed || (member.next && *member.next == archive_->size());
  if (member.has_trailer || !has_data || member.sums * kBlock < archive_->size()) return {};
  member.has_trailer = true;
  return fmt::format("end {}\n{}", member.trailer.size(), member.trailer);
}

/// The sums of the next blocks, and their part of the digests. Throws LocalFileError.
void Spread::learn_sums() {
  if (of_host_) return;  // which says them
  std::set<DigestKind> kinds;
  for (const auto& [host, member] : members_) kinds.insert(member->digest);
  for (std::uint64_t i = 0; i < kAhead; ++i) {
    std::uint64_t offset = sums_.size() / kSum * kBlock;
    const std::uint64_t end = std::min(offset + kBlock, archive_->size());
    if (offset >= end) break;
    Digest sum(DigestKind::sha256);
    while (offset < end) {
      Chunk block;
      for (const DigestKind kind : kinds) block = archive_->read(offset, kind);
      sum.update(block.bytes());
      offset += block.size();
    }
    sums_ += sum.finish_bytes();
  }
  for (auto& [host, member] : members_) member->changed.notify();
}

asio::awaitable<void> Spread::read(std::shared_ptr<Member> member) {
  const Presence presence(*this, member);
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

/// Throws HostError with what the relay said of its failure, which tar notices afterwards.
asio::awaitable<std::string> Spread::next_answer(Member& member) {
  try {
    co_return co_await member.talk.answer();
  } catch (const HostError& error) {
    if (member.failed.empty() || error.failure().cause != Cause::other) throw;
  }
  const char* const hint = of_host_ ? "" : " (leave out --spread)";
  throw HostError(
      {Stage::copying, Cause::other, fmt::format("handing the files on failed: {}{}", member.failed, hint)});
}

void Spread::take(Member& member, std::string_view answer) {
  std::string_view words = answer;
  const std::string_view what = take_part(words, ' ');
  const auto next_number = [&] { return number(take_part(words, ' '), answer); };
  if (member.way == Member::Way::unknown) {
    if (what != "relay") refuse(answer);
    greet(member, words);
  } else if (what == "relay") {  // push.sh says it again
    throw HostError({Stage::copying, Cause::other,
                     "python3, which hands the files on, was ended there (leave out --spread)"});
  } else if (what == "staged") {
    member.staged = words;
  } else if (member.way == Member::Way::direct) {
    refuse(answer);
  } else if (what == "want") {
    const std::uint64_t from = next_number();
    feed(member, from, next_number());
  } else if (what == "joined") {
    if (next_number() != member.parent) refuse(answer);
    member.has_joined = true;
    on(event::Joined{member.host});
  } else if (what == "at") {
    member.share.sent = std::min(next_number(), archive_->size());
    on(event::At{member.host, member.share.sent});
  } else if (what == "lost") {
    const std::uint64_t offset = next_number();
    member.share.lost_because = words.substr(0, kLongestReason);
    on(event::LostParent{member.host, offset, !member.has_joined});
  } else if (what == "slow") {
    on(event::Slow{member.host});
  } else if (what == "failed") {
    if (words != "tar has closed its input") member.failed = words;
  } else if (!take_of_parent(member, what, words, answer)) {
    refuse(answer);
  }
}

/// What a host says that serves others; false if it is something else.
bool Spread::take_of_parent(Member& member, std::string_view what, std::string_view words,
                            std::string_view answer) {
  if (what == "port") {
    if (!to_port(words)) refuse(answer);
    member.port = words;
    on(event::Port{member.host});
  } else if (what == "deaf") {
    deaf_because_ = words.substr(0, kLongestReason);
    on(event::Deaf{member.host});
  } else if (what == "dropped") {
    const std::uint64_t child = number(take_part(words, ' '), answer);
    on(event::Dropped{member.host, child, words.starts_with("held up")});
  } else {
    return false;
  }
  return true;
}

/// `ADDRESS`, or `- REASON`
void Spread::greet(Member& member, std::string_view words) {
  const std::string_view address = take_part(words, ' ');
  member.share.began = std::chrono::steady_clock::now();
  member.way = words.empty() ? Member::Way::relay : Member::Way::direct;
  if (member.way == Member::Way::relay) {
    member.address = reachable(address);
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

std::string Spread::key_frame() const { return fmt::format("key {}\n{}", key_.text().size(), key_.text()); }

asio::awaitable<void> Spread::serve(PushTalk& talk, std::size_t host, HostShare& share, bool may_listen) {
  const std::shared_ptr<Spread> self = shared_from_this();
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
  asio::awaitable<void> writing = write(member);
  asio::awaitable<void> reading = read_server(member);
  co_await write_while(talk.stream(), std::move(writing), std::move(reading));
}

void Spread::leave() {
  may_leave_ = true;
  end_server();
}

bool Spread::needs_server() const { return of_host_ && server_.expired() && !members_.empty(); }

void Spread::end_server() {
  const std::shared_ptr<Member> server = server_.lock();
  if (!server || !may_leave_ || server->has_ended || members_.size() != 1) return;
  if (!std::exchange(server->is_leaving, true)) server->talk.close_write();
}

asio::awaitable<void> Spread::read_server(std::shared_ptr<Member> member) {
  const Presence presence(*this, member);
  try {
    for (;;) {
      std::string answer = co_await member->talk.answer();
      co_await take_of_server(*member, std::move(answer));
    }
  } catch (const HostError& error) {
    if (member->is_leaving) co_return;
    if (member->failed.empty() || error.failure().cause != Cause::ended_early) throw;
  }
  throw HostError({Stage::copying, Cause::not_copied, member->failed});
}

asio::awaitable<void> Spread::take_of_server(Member& member, std::string answer) {
  std::string_view words = answer;
  const std::string_view what = take_part(words, ' ');
  if (member.way == Member::Way::unknown) {
    if (what != "relay") refuse(answer);
    co_await greet_server(member, words);
  } else if (what == "relay") {
    throw HostError({Stage::copying, Cause::other, "python3, which serves the files, was ended there"});
  } else if (what == "sums") {
    take_sum(words, answer);
  } else if (what == "digest") {
    const std::string_view kind = take_part(words, ' ');
    of_host_->take_digest(kind == "sha256" ? DigestKind::sha256 : DigestKind::blake2b, std::string(words));
    tell_.changed();
  } else if (what == "data") {
    const std::uint64_t offset = number(take_part(words, ' '), answer);
    const std::uint64_t size = number(words, answer);
    if (size > Archive::kBlock) refuse(answer);
    const std::string bytes = co_await member.talk.bytes(size);
    if (!of_host_->take_data(offset, bytes)) refuse(answer);
    for (auto& [host, other] : members_) other->changed.notify();
  } else if (what == "failed") {
    member.failed = words;
  } else if (!take_of_parent(member, what, words, answer)) {
    refuse(answer);
  }
}

/// `ADDRESS`, or `- REASON`
asio::awaitable<void> Spread::greet_server(Member& member, std::string_view words) {
  const std::string_view address = take_part(words, ' ');
  if (!words.empty()) {
    throw HostError({Stage::copying, Cause::other,
                     fmt::format("it cannot serve its files: {} (podrun pull, then podrun push)", words)});
  }
  std::string plan;
  std::function<void()> pack = [&] { plan = of_host_->plan(); };
  co_await run_on_thread(std::move(pack));
  static const Chunk program = packed(kRelayFilesScript);
  member.way = Member::Way::relay;
  member.address = reachable(address);
  member.frames = program.bytes();
  member.frames += fmt::format("start {} {} {}\n", id_, member.host, archive_->size());
  member.frames += key_frame();
  member.frames += fmt::format("plan {}\n{}", plan.size(), plan);
  of_host_->begin([this, host = member.host](const std::string& frame) { order(host, frame); });
  for (auto& [host, other] : members_) other->changed.notify();  // they ask again
  member.is_told = true;
  const bool can_relay = member.may_listen && !member.address.empty();
  on(event::SpreadReady{member.host, member.address, can_relay, true});
  member.changed.notify();
}

/// `INDEX HEX`. Another attempt of the host says them again.
void Spread::take_sum(std::string_view words, std::string_view answer) {
  const std::uint64_t index = number(take_part(words, ' '), answer);
  const std::uint64_t known = sums_.size() / kSum;
  const std::uint64_t begin = index * kBlock;
  const std::optional<std::string> sum = from_hex(words);
  if (index > known || begin >= archive_->size() || !sum || sum->size() != kSum) refuse(answer);
  const std::uint64_t end = std::min(begin + kBlock, archive_->size());
  const std::string both = of_host_->sum_with_heads(begin, end, *sum);
  if (index < known && std::string_view(sums_).substr(index * kSum, kSum) != both) {
    throw HostError(
        {Stage::copying, Cause::not_copied, "its files changed meanwhile (run the command again)"});
  }
  if (index < known) return;
  sums_ += both;
  for (auto& [host, member] : members_) member->changed.notify();
}

void Spread::feed(Member& member, std::uint64_t from, std::uint64_t to) {
  const bool is_right = member.is_fed && from <= to && to <= archive_->size() && to >= member.allowed;
  if (!is_right) refuse("want");
  if (!member.next) member.next = from;
  member.allowed = to;
  member.changed.notify();
}

void Spread::on(const SpreadEvent& event) {
  for (const SpreadAction& action : plan_.on(event, Clock::now()))
    std::visit([this](const auto& what) { act(what); }, action);
  set_timer();
  wake_fed();
}

/// Null for a host that is not served any more.
Spread::Member* Spread::find(std::size_t host) const {
  const auto found = members_.find(host);
  return found == members_.end() ? nullptr : found->second.get();
}

void Spread::act(const action::Listen& listen) {
  const Member* const parent = find(listen.host);
  if (!parent) return;
  order(listen.host, fmt::format("listen {} {}\n", parent->address, fmt::join(listen.children, ",")));
}

void Spread::act(const action::FromParent& from) {
  Member* const child = find(from.host);
  const Member* const parent = find(from.parent);
  if (!child || !parent) return;
  child->parent = from.parent;
  child->has_joined = false;
  order(from.host, fmt::format("parent {} {} {}\n", parent->address, parent->port, from.parent));
}

void Spread::act(const action::FromHere& from) { feed_from_here(from.host); }

void Spread::act(const action::Direct& direct) { feed_from_here(direct.host); }

void Spread::feed_from_here(std::size_t host) {
  Member* const member = find(host);
  if (!member || member->way != Member::Way::relay) return;
  member->is_fed = true;
  if (member->share.lost_because.empty()) member->share.lost_because = deaf_because_;
  order(host, "here\n");
}

void Spread::act(const action::Drop& drop) { order(drop.parent, fmt::format("drop {}\n", drop.child)); }

void Spread::order(std::size_t host, const std::string& frame) {
  Member* const member = find(host);
  if (!member) return;
  member->frames += frame;
  member->changed.notify();
}

/// For the next tick of the plan, and for the ends of holds_back().
void Spread::set_timer() {
  std::optional<TimePoint> next = plan_.next_tick();
  for (const TimePoint end : {last_arrival_ + kForArrivals, last_arrival_ + kForJoins}) {
    if (Clock::now() < end) next = std::min(next.value_or(end), end);
  }
  timer_.cancel();
  if (!next) return;
  timer_.expires_at(*next);
  timer_.async_wait([weak = weak_from_this()](const std::error_code& cancelled) {
    const std::shared_ptr<Spread> self = weak.lock();
    if (!cancelled && self) self->on(event::SpreadTick{});
  });
}

}  // namespace podrun::transfer
