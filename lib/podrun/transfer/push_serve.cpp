// SPDX-License-Identifier: Apache-2.0
// The part of a push whose files a host has: that host lists them, and serves them to the others.
#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "podrun/transfer/list_paths.hpp"
#include "podrun/transfer/private_parts.hpp"
#include "podrun/transfer/push.hpp"
#include "podrun/transfer/side_work.hpp"
#include "podrun/transfer/transfer_failures.hpp"

namespace podrun::transfer {
namespace {

using link::Cause;
using link::HostError;

[[noreturn]] void fail(Cause cause, std::string why) { throw HostError({kCopying, cause, std::move(why)}); }

/// Throws HostError unless the entries are one directory, or the contents of one, as the word says: --delete
/// must not delete anywhere else.
void check_top(const std::vector<Entry>& entries, const std::string& word) {
  const Entry& top = entries.front();
  const bool names_contents = pull_word(word).ends_with('/');
  const bool is_one = top.path.empty() || std::ranges::all_of(entries, [&](const Entry& entry) {
                        return entry.path == top.path || entry.path.starts_with(top.path + '/');
                      });
  if (top.kind != Kind::directory || top.path.empty() != names_contents || !is_one)
    fail(kNotComparable, fmt::format("\"{}\" is not a single directory, as --delete needs", word));
}

}  // namespace

asio::awaitable<void> Push::serve(supervisor::Supervised& supervised) {
  ListRequest request{.words = {}, .max_files = request_.max_files, .links = Links::listed};
  std::vector<std::string> words;
  for (const std::string& word : request_.tree.sources) words.push_back(pull_word(word));
  request.words = words;
  const ListedPaths listed = co_await list_paths(supervised, std::move(request));
  check_complete(listed, request_.words);
  special_of_host_ = listed.listing.special;
  LocalTree tree;
  std::optional<LocalTree> renamed;
  std::function<void()> sort = [&] {
    check_names(listed.listing, words);
    tree = LocalTree::listed(listed.listing);
    if (may_be_name(tree)) renamed = tree.renamed(last_name(request_.target));
  };
  co_await run_on_thread(std::move(sort));
  take_tree(std::move(tree), std::move(renamed));
  HostShare& share = shares_[*request_.spread.source_host];
  share.is_staged = true;
  spread_.arrive(*request_.spread.source_host);
  if (!request_.only_look) co_await spread_.serve(supervised, share);
}

/// The first attempt decides.
void Push::take_tree(LocalTree tree, std::optional<LocalTree> renamed) {
  const std::vector<Entry>& entries = tree.entries();
  if (entries.empty()) fail(kNotCopied, "there are only sockets, devices or FIFOs");
  if (request_.remove == Delete::yes) check_top(entries, request_.tree.sources.front());
  check_private(tree);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50U;  // of relay.py
  std::uint64_t total = 0;
  for (const Entry& entry : entries) {
    if (entry.size > kMost - total) fail(kTooLarge, "more than 1 PiB");
    total += entry.size;
  }
  if (has_tree_ && tree_.entries() != entries)
    fail(kNotCopied, "its files changed meanwhile (run the command again)");
  if (has_tree_) return;
  tree_ = std::move(tree);
  renamed_ = std::move(renamed);
  has_tree_ = true;
  waits_.report_change();
}

void Push::check_private(const LocalTree& tree) const {
  if (request_.may_send_private || request_.only_look) return;
  std::vector<std::string> words;
  for (const std::string& word : request_.tree.sources) words.push_back(pull_word(word));
  const std::string found = private_parts_of_host(tree, words);
  if (!found.empty())
    fail(kNotCopied,
         fmt::format("{} would go to all other hosts (name what is meant, or give --force)", found));
}

bool Push::are_all_staged() const {
  return std::ranges::all_of(shares_, [](const HostShare& share) { return share.is_staged; });
}

asio::awaitable<void> Push::wait_for_tree(std::size_t host) {
  while (!has_tree_) co_await waits_.wait(host);
}

}  // namespace podrun::transfer
