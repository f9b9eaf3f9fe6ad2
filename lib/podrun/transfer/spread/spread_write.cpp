// SPDX-License-Identifier: Apache-2.0
// Writes to the relays: frames, the sums of all blocks, and blocks to the hosts that podrun itself feeds.
#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "podrun/transfer/spread/spread_member.hpp"

namespace podrun::transfer {
namespace {

/// Sums that are learned at once, before the first of these blocks is sent. Archive keeps more than that.
constexpr std::uint64_t kAhead = 8;
constexpr std::size_t kSumsInFrame = 4096;
constexpr std::size_t kPiece = 64 * 1024;
/// Less than relays keep for hosts that come later.
constexpr std::uint64_t kHeldBack = 24 * kSpreadBlock;

}  // namespace

/// Writes what the member needs next, until its conversation ends.
asio::awaitable<void> SpreadGroup::write(std::shared_ptr<Member> member) {
  const std::shared_ptr<SpreadGroup> self = shared_from_this();
  bool is_read = true;
  while (is_read && !member->has_ended) {
    if (member->way == Member::Way::direct) {
      std::string trailer = member->trailer;
      PushTalk::Wait wait = [member] { return member->wait(); };  // for the host that has the files
      co_await member->talk.write_archive(*archive_, member->digest, std::move(trailer), member->share.sent,
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
      member->waits = false;
      is_read = co_await write_frames(*member, frames);
    } else if (const bool has_data = co_await write_data(*member); !has_data) {
      co_await member->changed.wait();
    }
  }
}

/// In pieces, so that a slow connection shows progress. Small ones are none: they wait for no reader.
asio::awaitable<bool> SpreadGroup::write_frames(Member& member, std::string_view frames) {
  bool is_read = true;
  while (is_read && !frames.empty()) {
    std::string piece(frames.substr(0, kPiece));
    frames.remove_prefix(piece.size());
    member.written += piece.size() / kPiece;
    is_read = co_await member.talk.write(std::move(piece));
  }
  co_return is_read;
}

/// Writes the next data to a member that is fed; false if there is none, or it may not be sent yet.
asio::awaitable<bool> SpreadGroup::write_data(Member& member) {
  member.waits = member.next && *member.next < member.allowed;
  if (!member.waits) co_return false;
  // The first host must not leave, nor drop the beginning, before the others have asked it for that.
  const std::uint64_t held = std::min(kHeldBack, archive_->size() - std::min(kSpreadBlock, archive_->size()));
  if (*member.next >= held && holds_back()) co_return false;
  const std::uint64_t offset = *member.next;
  if (offset / kSpreadBlock >= sums_.size() / kSumSize) {
    learn_sums();
    co_return !of_host_;
  }
  if (!archive_->prepare(offset)) co_return false;
  member.waits = false;
  Chunk block = archive_->read(offset, member.digest);
  if (block.size() > member.allowed - offset)
    block = Chunk(std::string(block.bytes().substr(0, member.allowed - offset)));
  *member.next += block.size();
  std::string head = fmt::format("data {} {}\n", offset, block.size());
  bool is_read = co_await member.talk.write(std::move(head));
  if (is_read) is_read = co_await member.talk.write(std::move(block));
  ++member.written;
  if (!is_read) member.has_ended = true;
  co_return true;
}

/// A frame with sums that the member does not have.
std::string SpreadGroup::sums_for(Member& member) {
  const std::uint64_t known =
      std::min(sums_.size() / kSumSize, member.share.sent / kSpreadBlock + kSumsAhead);
  if (member.sums >= known) return {};
  const std::uint64_t count = std::min<std::uint64_t>(known - member.sums, kSumsInFrame);
  std::string frame = fmt::format("sums {} {}\n", member.sums, count);
  frame += std::string_view(sums_).substr(member.sums * kSumSize, count * kSumSize);
  member.sums += count;
  return frame;
}

/// The trailer, once the member has all else from here.
std::string SpreadGroup::end_for(Member& member) {
  const bool has_data = !member.is_fed || (member.next && *member.next == archive_->size());
  if (member.has_trailer || !has_data || member.sums * kSpreadBlock < archive_->size()) return {};
  member.has_trailer = true;
  return fmt::format("end {}\n{}", member.trailer.size(), member.trailer);
}

/// The sums of the next blocks, and their part of the digests. Throws LocalFileError.
void SpreadGroup::learn_sums() {
  if (of_host_) return;  // which says them
  std::set<DigestKind> kinds;
  for (const auto& [host, member] : members_) kinds.insert(member->digest);
  for (std::uint64_t i = 0; i < kAhead; ++i) {
    std::uint64_t offset = sums_.size() / kSumSize * kSpreadBlock;
    const std::uint64_t end = std::min(offset + kSpreadBlock, archive_->size());
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

}  // namespace podrun::transfer
