// SPDX-License-Identifier: Apache-2.0
// Stages the files on a host: its archive, from here or by way of other hosts, and the texts that check and
// switch.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/link/link.hpp"
#include "podrun/transfer/archive.hpp"
#include "podrun/transfer/host_archive.hpp"
#include "podrun/transfer/listing.hpp"
#include "podrun/transfer/local_archive.hpp"
#include "podrun/transfer/push.hpp"
#include "podrun/transfer/push_talk.hpp"
#include "podrun/transfer/spread.hpp"

namespace podrun::transfer {
namespace {

using link::Cause;
using link::HostError;
using link::Stage;

}  // namespace

asio::awaitable<void> Push::stage(PushTalk& talk, std::size_t host, const ScanHeader& header,
                                  const Transfer& transfer, const std::shared_ptr<Archive>& archive) {
  const Target target = header.exists ? Target::present : Target::missing;
  std::string trailer = tar_member("run/podrun.check", check_text(tree(), transfer));
  trailer += tar_member("run/podrun.switch", switch_text(tree(), transfer, target));
  trailer += end_of_archive();
  HostShare& share = shares_[host];
  share.total = archive->size() + trailer.size();
  std::string answer;
  std::shared_ptr<Spread> spread;  // until the digest is known
  if (is_in_spread(host)) {
    spread = spread_of(co_await asio::this_coro::executor, transfer);
    try {
      answer = co_await spread->stage(talk, host, header.digest, std::move(trailer), share);
    } catch (const HostError& error) {
      const link::Failure& failure = error.failure();
      was_silent_[host] =
          was_silent_[host] || (failure.cause == Cause::no_answer && failure.stage == Stage::copying);
      throw;
    }
  } else {
    answer = co_await stage_directly(talk, archive, header.digest, std::move(trailer), share);
  }
  share.sent = share.total;
  co_await archive->finish_digest(header.digest);
  while (!archive->digest(header.digest)) co_await wait_for_change(host);
  std::string_view why = answer;
  const std::string_view digest = take_part(why, ' ');
  if (digest != archive->digest(header.digest))
    throw HostError({Stage::copying, Cause::files_differ,
                     why.empty() ? fmt::format("staged {}", digest)
                                 : fmt::format("the digests there failed: {}{}", why, doubt_of_name(why))});
}

/// Sends the archive at the host's own pace. A host that stops reading says why. The digest that it has
/// staged.
asio::awaitable<std::string> Push::stage_directly(PushTalk& talk, const std::shared_ptr<Archive>& archive,
                                                  DigestKind digest, std::string trailer, HostShare& share) {
  share.began = std::chrono::steady_clock::now();
  const bool is_read = co_await talk.write_archive(*archive, digest, std::move(trailer), share, {});
  const std::string answer = co_await talk.answer();
  constexpr std::string_view kStaged = "staged ";
  if (!is_read || !answer.starts_with(kStaged))
    throw HostError({Stage::copying, Cause::files_differ, answer});
  co_return answer.substr(kStaged.size());
}

asio::awaitable<bool> PushTalk::write_archive(Archive& archive, DigestKind digest, std::string trailer,
                                              HostShare& share, Wait wait) {
  bool is_read = true;
  for (std::uint64_t offset = 0; is_read && offset < archive.size();) {
    if (!archive.prepare(offset)) {
      is_read = co_await wait();
      continue;
    }
    Chunk block = archive.read(offset, digest);
    offset += block.size();
    share.sent += block.size();
    is_read = co_await write(std::move(block));
  }
  if (is_read) is_read = co_await write(std::move(trailer));
  close_write();
  co_return is_read;
}

/// Hosts that need the same paths read one archive.
std::shared_ptr<Archive> Push::archive_of(const Transfer& transfer) {
  std::weak_ptr<Archive>& known = groups_[transfer.chosen].archive;
  std::shared_ptr<Archive> archive = known.lock();
  if (archive) return archive;
  if (request_.source_host) {
    archive = std::make_shared<HostArchive>(tree(), transfer.chosen);
  } else {
    archive = std::make_shared<LocalArchive>(tree(), transfer.chosen);
  }
  known = archive;
  return archive;
}

std::shared_ptr<Spread> Push::spread_of(const asio::any_io_executor& executor, const Transfer& transfer) {
  std::weak_ptr<Spread>& known = groups_[transfer.chosen].spread;
  std::shared_ptr<Spread> spread = known.lock();
  if (!spread) {
    known = spread =
        std::make_shared<Spread>(executor, archive_of(transfer), shares_.size(), request_.limits,
                                 Spread::Tell{.arrived = [this](std::size_t host) { arrive(host); },
                                              .changed = [this] { let_server_leave(); }});
    hold_back();
  }
  return spread;
}

/// The program that hands on is sent too, so that less is sent without it.
bool Push::spreads(const Archive& archive) const {
  constexpr std::size_t kLeast = 64 * 1024;
  const bool is_wanted = request_.spreading == Spreading::wanted ||
                         (request_.source_host && request_.spreading == Spreading::possible);
  return is_wanted && shares_.size() > 1 && archive.size() >= kLeast;
}

void Push::arrive(std::size_t host) {
  arrived_[host] = true;
  last_arrival_ = SpreadPlan::TimePoint::clock::now();
  hold_back();
}

/// The first host must not get far ahead of those that will soon ask for the same.
void Push::hold_back() {
  const bool are_all_here = std::find(arrived_.begin(), arrived_.end(), false) == arrived_.end();
  for (const auto& [chosen, group] : groups_) {
    if (const std::shared_ptr<Spread> spread = group.spread.lock())
      spread->hold_back(last_arrival_, are_all_here);
  }
}

}  // namespace podrun::transfer
