// SPDX-License-Identifier: Apache-2.0
// The part of a push whose files a host has: that host lists them, and serves them to the others.
#include <algorithm>
#include <functional>
#include <utility>

#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <fmt/format.h>

#include "podrun/base/at_end.hpp"
#include "podrun/transfer/list_paths.hpp"
#include "podrun/transfer/private_parts.hpp"
#include "podrun/transfer/push_talk.hpp"
#include "podrun/transfer/side_work.hpp"
#include "podrun/transfer/spread/scripts.hpp"
#include "podrun/transfer/spread/spread_group.hpp"

namespace podrun::transfer {
namespace {

using link::Cause;
using link::HostError;
using link::Stage;

[[noreturn]] void fail(Cause cause, std::string why) {
  throw HostError({Stage::copying, cause, std::move(why)});
}

/// Throws HostError unless the entries are one directory, or the contents of one, as the word says: --delete
/// must not delete anywhere else.
void check_top(const std::vector<Entry>& entries, const std::string& word) {
  const Entry& top = entries.front();
  const bool names_contents = pull_word(word).ends_with('/');
  const bool is_one = top.path.empty() || std::ranges::all_of(entries, [&](const Entry& entry) {
                        return entry.path == top.path || entry.path.starts_with(top.path + '/');
                      });
  if (top.kind != Kind::directory || top.path.empty() != names_contents || !is_one)
    fail(Cause::not_comparable, fmt::format("\"{}\" is not a single directory, as --delete needs", word));
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
  HostShare& share = shares_[*request_.source_host];
  share.is_staged = true;
  arrive(*request_.source_host);
  if (!request_.only_look) co_await serve_groups(supervised);
}

/// The first attempt decides.
void Push::take_tree(LocalTree tree, std::optional<LocalTree> renamed) {
  const std::vector<Entry>& entries = tree.entries();
  if (entries.empty()) fail(Cause::not_copied, "there are only sockets, devices or FIFOs");
  if (request_.remove == Delete::yes) check_top(entries, request_.tree.sources.front());
  check_private(tree);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50U;  // of relay.py
  std::uint64_t total = 0;
  for (const Entry& entry : entries) {
    if (entry.size > kMost - total) fail(Cause::too_large, "more than 1 PiB");
    total += entry.size;
  }
  if (has_tree_ && tree_.entries() != entries)
    fail(Cause::not_copied, "its files changed meanwhile (run the command again)");
  if (has_tree_) return;
  tree_ = std::move(tree);
  renamed_ = std::move(renamed);
  has_tree_ = true;
  report_change();
}

void Push::check_private(const LocalTree& tree) const {
  if (request_.may_send_private || request_.only_look) return;
  std::vector<std::string> words;
  for (const std::string& word : request_.tree.sources) words.push_back(pull_word(word));
  const std::string found = private_parts_of_host(tree, words);
  if (!found.empty())
    fail(Cause::not_copied,
         fmt::format("{} would go to all other hosts (name what is meant, or give --force)", found));
}

/// Until it is cancelled or destroyed: stops a host that gives no answer.
asio::steady_timer Push::stop_later(const asio::any_io_executor& executor,
                                    std::function<void(link::Failure)> stop) const {
  const auto limit = std::chrono::ceil<std::chrono::seconds>(request_.limits.silent);
  asio::steady_timer timer(executor, limit);
  timer.async_wait([stop = std::move(stop), limit](const std::error_code& cancelled) {
    if (!cancelled) stop({.stage = Stage::copying, .cause = Cause::no_answer, .after = limit});
  });
  return timer;
}

asio::awaitable<void> Push::serve_groups(supervisor::Supervised& supervised) {
  static const Chunk script{std::string(kServeScript)};
  const std::size_t own = *request_.source_host;
  for (bool has_switch = false;;) {
    const std::shared_ptr<Spread> spread = group_to_serve();
    if (!spread && !are_all_staged()) {
      co_await wait_for_change(own);
      continue;
    }
    if (!spread && has_switch) co_return;
    std::vector<std::string> words = ServeWords{.directory = supervised.directory()}.list();
    asio::steady_timer limit =
        stop_later(co_await asio::this_coro::executor,
                   [&supervised](const link::Failure& failure) { supervised.stop(failure); });
    supervisor::StartedProgram program = co_await supervised.start_program(script, std::move(words));
    PushTalk talk(std::move(program), {});
    if (spread) {
      limit.cancel();
      co_await spread->serve(talk, own, shares_[own], request_.spreading != Spreading::impossible);
    } else {
      co_await talk.answer();  // the switch is there
    }
    has_switch = true;
  }
}

bool Push::are_all_staged() const {
  return std::ranges::all_of(shares_, [](const HostShare& share) { return share.is_staged; });
}

/// A group that waits; null if none does.
std::shared_ptr<Spread> Push::group_to_serve() const {
  for (const auto& [chosen, group] : groups_) {
    std::shared_ptr<Spread> spread = group.spread.lock();
    if (spread && spread->needs_server()) return spread;
  }
  return nullptr;
}

/// When no more hosts of its group can come, or another group waits. The one that waits for a group sees it.
void Push::let_server_leave() {
  if (group_to_serve() || are_all_staged()) {
    for (const auto& [chosen, group] : groups_) {
      if (const std::shared_ptr<Spread> spread = group.spread.lock()) spread->leave();
    }
  }
  report_change();
}

asio::awaitable<void> Push::wait_for_tree(std::size_t host) {
  while (!has_tree_) co_await wait_for_change(host);
}

/// There is no stream whose end would end this.
asio::awaitable<void> Push::wait_for_change(std::size_t host) {
  if (abandoned_[host]) throw HostError({.cause = Cause::abandoned});
  const auto changed = std::make_shared<Event>(co_await asio::this_coro::executor);
  waiting_.push_back(changed);
  const AtEnd forget([&] { std::erase(waiting_, changed); });  // waiting_ outlives the event loop
  co_await changed->wait();
  if (abandoned_[host]) throw HostError({.cause = Cause::abandoned});
}

void Push::report_change() {
  for (const std::shared_ptr<Event>& each : std::exchange(waiting_, {})) each->notify();
}

}  // namespace podrun::transfer
