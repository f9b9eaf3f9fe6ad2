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
#include "podrun/transfer/listing.hpp"
#include "podrun/transfer/local_archive.hpp"
#include "podrun/transfer/push.hpp"
#include "podrun/transfer/push_talk.hpp"
#include "podrun/transfer/transfer_failures.hpp"

namespace podrun::transfer {
namespace {

using link::Cause;
using link::HostError;

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
  if (spread_.serves(host, share)) {
    answer = co_await spread_.stage(talk, host, archive, header.digest, std::move(trailer), share);
  } else {
    answer = co_await stage_directly(talk, archive, header.digest, std::move(trailer), share);
    share.sent = share.total;
    co_await archive->finish_digest(header.digest);
  }
  std::string_view why = answer;
  const std::string_view digest = take_part(why, ' ');
  if (digest != archive->digest(header.digest))
    throw HostError({kCopying, kFilesDiffer,
                     why.empty() ? fmt::format("staged {}", digest)
                                 : fmt::format("the digests there failed: {}{}", why, doubt_of_name(why))});
}

/// Sends the archive at the host's own pace. A host that stops reading says why. The digest that it has
/// staged.
asio::awaitable<std::string> Push::stage_directly(PushTalk& talk, const std::shared_ptr<Archive>& archive,
                                                  DigestKind digest, std::string trailer, HostShare& share) {
  share.began = std::chrono::steady_clock::now();
  const bool is_read = co_await talk.write_archive(*archive, digest, std::move(trailer), share.sent, {});
  const std::string answer = co_await talk.answer();
  constexpr std::string_view kStaged = "staged ";
  if (!is_read || !answer.starts_with(kStaged)) throw HostError({kCopying, kFilesDiffer, answer});
  co_return answer.substr(kStaged.size());
}

/// Hosts that need the same paths read one archive.
std::shared_ptr<Archive> Push::archive_of(const Transfer& transfer) {
  std::weak_ptr<Archive>& known = archives_[transfer.chosen];
  std::shared_ptr<Archive> archive = known.lock();
  if (archive) return archive;
  if (request_.spread.source_host) {
    archive = make_host_archive(tree(), transfer.chosen);
  } else {
    archive = std::make_shared<LocalArchive>(tree(), transfer.chosen);
  }
  known = archive;
  return archive;
}

}  // namespace podrun::transfer
