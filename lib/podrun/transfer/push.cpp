// SPDX-License-Identifier: Apache-2.0
// The conversation of a push with each host: the host lists what it has, gets what differs, and confirms the
// digest of what arrived.
#include "podrun/transfer/push.hpp"

#include <algorithm>
#include <system_error>

#include <asio/this_coro.hpp>
#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/transfer/listing.hpp"
#include "podrun/transfer/push_talk.hpp"
#include "podrun/transfer/scripts.hpp"
#include "podrun/transfer/side_work.hpp"
#include "podrun/transfer/source_file.hpp"
#include "podrun/transfer/transfer_failures.hpp"

namespace podrun::transfer {
namespace {

using link::Cause;
using link::HostError;

/// The most paths that a host lists by name; with more, it lists everything below the target.
constexpr std::size_t kMaxNames = 500;
constexpr std::size_t kMaxNamesText = 32 * 1024;
constexpr std::size_t kNonceSize = 16;

/// The paths directly below the target.
std::vector<std::string> top_names(const LocalTree& tree) {
  std::vector<std::string> names;
  for (const Entry& entry : tree.entries()) {
    if (!entry.path.empty() && entry.path.find('/') == entry.path.npos) names.push_back(entry.path);
  }
  return names;
}

bool can_be_name(const std::string& target) {
  const std::string name = last_name(target);
  return !name.empty() && name != "." && name != ".." && target != "~";
}

/// Notes in the report of a host what it will get and lose.
void note_changes(const Transfer& transfer, HostShare& share) {
  share.files = transfer.files;
  share.bytes = transfer.bytes;
  share.deleted = transfer.deleted;
  share.replaced_links = transfer.replaced_links;
  share.has_attributes = transfer.has_attributes;
}

asio::awaitable<void> send_nothing(PushTalk& talk) {
  std::string line = "nothing\n";
  co_await talk.write(std::move(line));
  talk.close_write();
  co_await talk.answer();
}

[[noreturn]] void refuse_link_elsewhere(std::string_view link, std::string_view target) {
  throw HostError({kCopying, Cause::other,
                   fmt::format("{}: a link to another file system than \"{}\", which hosts share (leave out "
                               "--keep-dir-links, and push to that directory by itself)",
                               link, target)});
}

}  // namespace

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// A host that stages for all hosts with its file system.
struct Push::Writer {
  std::size_t host;
  std::string name;
  std::vector<std::shared_ptr<Event>> waiting = {};  ///< of hosts with this file system
  bool is_done = false;
  bool has_failed = false;
};

/// Tells the hosts that wait for a writer how it ended.
class Push::Claim {
 public:
  explicit Claim(std::shared_ptr<Writer> writer) : writer_(std::move(writer)) {}
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  ~Claim() {
    writer_->has_failed = !writer_->is_done;
    for (const std::shared_ptr<Event>& each : writer_->waiting) each->notify();
    writer_->waiting.clear();  // this outlives the run, and so its timers
  }

 private:
  std::shared_ptr<Writer> writer_;
};

Push::Push(PushRequest request, std::size_t hosts)
    : request_(std::move(request)),
      shares_(hosts),
      has_tree_(!request_.spread.source_host),
      waits_(hosts),
      spread_(request_.spread, hosts, waits_, [this] { return are_all_staged(); }) {
  if (!has_tree_) return;
  tree_ = LocalTree::read(request_.tree);
  if (may_be_name(tree_)) renamed_ = tree_.renamed(last_name(request_.target));
}

/// Whether the target may be the new name of the only file.
bool Push::may_be_name(const LocalTree& tree) const {
  const bool is_single = tree.entries().size() == 1 && tree.entries().front().kind != Kind::directory;
  return is_single && can_be_name(request_.target);
}

void Push::begin_pass() {
  writers_.clear();
  deletes_all_ = false;
  waits_.begin_pass();
  spread_.begin_pass();
  for (HostShare& share : shares_) share.is_staged = false;
}

asio::awaitable<void> Push::prepare(std::size_t host, supervisor::Supervised& supervised) {
  shares_[host] = {};
  const std::vector<bool>& behind_ports = request_.spread.behind_ports;
  const bool is_of_several = host < behind_ports.size() && behind_ports[host];
  shares_[host].reached = {supervised.host_address(), is_of_several};
  // A staging directory of this host's earlier attempt may still exist, but is removed when that connection
  // ends.
  for (auto& [inode, writers] : writers_)
    std::erase_if(writers, [&](const std::shared_ptr<Writer>& writer) { return writer->host == host; });
  try {
    if (host == request_.spread.source_host) {
      co_await serve(supervised);
    } else {
      co_await wait_for_tree(host);
      co_await converse(host, supervised);
      if (request_.spread.source_host) spread_.finish();
    }
  } catch (const LocalFileError& error) {
    throw HostError({kCopying, kLocalFileFailed, error.what()});
  } catch (const std::system_error& error) {  // no thread
    throw HostError({kCopying, Cause::local_limit, error.what()});
  }
}

asio::awaitable<void> Push::converse(std::size_t host, supervisor::Supervised& supervised) {
  static const Chunk script{std::string(kPushScript)};
  std::string name = supervisor::random_id().substr(0, kNonceSize);
  std::vector<std::string> words = arguments(supervised, name);
  supervisor::StartedProgram program = co_await supervised.start_program(script, std::move(words));
  PushTalk talk(std::move(program), std::move(name));
  Scan found = co_await scan(talk);
  if (request_.keep_dir_links) co_await keep_links(talk, found.comparison);
  if (request_.compare == Compare::contents) co_await compare_contents(supervised, found);
  Transfer transfer;
  std::function<void()> decide = [&] { transfer = this->transfer(found.comparison); };
  co_await run_on_thread(std::move(decide));  // the host chooses how much there is to sort
  check_deleted(transfer);
  HostShare& share = shares_[host];
  note_changes(transfer, share);
  if (request_.only_look) {
    share.chosen = std::move(transfer.chosen);
    talk.close_write();
    co_return;
  }
  check_room(found.header, transfer);
  if (transfer.is_empty()) {
    spread_.arrive(host);
    co_await send_nothing(talk);
  } else {
    const std::shared_ptr<Archive> archive = archive_of(transfer);
    spread_.invite(host, *archive, share);
    const auto own = std::make_shared<Writer>(Writer{host, talk.name});
    const Claim claim(own);
    writers_[found.header.inode].push_back(own);
    const bool shared = co_await follow(talk, host, found.header.inode, transfer, *own);
    if (!shared) co_await stage(talk, host, found.header, transfer, archive);
    own->is_done = true;
  }
  share.is_staged = true;
}

/// The arguments of push.sh.
std::vector<std::string> Push::arguments(const supervisor::Supervised& supervised,
                                         const std::string& name) const {
  std::string flags;
  if (renamed_) flags += " file";
  if (request_.only_look) flags += " look";
  const bool is_target = !tree_.entries().empty() && tree_.entries().front().path.empty();
  const bool deletes_in_target = request_.remove == Delete::yes && is_target;
  if (deletes_in_target) flags += " delete";
  std::vector<std::string> paths = top_names(tree_);
  if (renamed_) paths.push_back(last_name(request_.target));
  std::size_t length = 0;
  for (const std::string& path : paths) length += path.size() + 1;
  if (deletes_in_target || paths.size() > kMaxNames || length > kMaxNamesText) {
    flags += " all";
    paths.clear();
  }
  return PushWords{.directory = supervised.directory(),
                   .target = request_.target,
                   .name = name,
                   .flags = flags,
                   .paths = std::move(paths)}
      .list();
}

Transfer Push::transfer(Comparison& comparison) const {
  std::vector<HostOnly> host_only = comparison.take_host_only();
  std::vector<HostOnly> deleted;
  std::vector<HostOnly> kept;
  if (!host_only.empty()) {
    const std::vector<bool> ignored =
        request_.spread.source_host ? kept_among(host_only) : ignored_among(host_only, request_.tree);
    for (std::size_t i = 0; i < host_only.size(); ++i)
      (ignored[i] ? kept : deleted).push_back(std::move(host_only[i]));
  }
  return make_transfer(tree(), std::move(comparison.states()), std::move(deleted), kept);
}

/// An empty source is more often a mistake (a directory that was recreated, a failed checkout) than a wish.
void Push::check_deleted(const Transfer& transfer) {
  if (request_.only_look || request_.may_delete_all || transfer.deleted.empty()) return;
  const auto below = transfer.states.begin() + 1;  // the first entry is the directory itself
  const auto is_present = [](const PathState& state) { return state.present; };
  if (std::any_of(below, transfer.states.end(), is_present)) return;
  deletes_all_ = true;
  throw HostError(
      {kCopying, kDeletesAll,
       fmt::format("--delete would delete everything in \"{}\" (is \"{}\" the right source? --force "
                   "deletes it)",
                   request_.target, request_.sources_for_user().front()),
       link::Retry::after_asking});
}

/// Asks for room before a host that has the files is believed that it has so much.
void Push::check_room(const ScanHeader& header, const Transfer& transfer) const {
  if (!request_.spread.source_host || !header.room || transfer.bytes <= *header.room) return;
  throw HostError({kCopying, kTooLarge,
                   fmt::format("{}, and there is room for {}", format_bytes(transfer.bytes),
                               format_bytes(*header.room))});
}

/// True if another host has written the file system that this host shares.
asio::awaitable<bool> Push::follow(PushTalk& talk, std::size_t host, const std::string& inode,
                                   const Transfer& transfer, Writer& own) {
  const std::vector<std::shared_ptr<Writer>> others = writers_[inode];
  std::string names;
  for (const std::shared_ptr<Writer>& writer : others) {
    if (&own != writer.get() && !writer->has_failed) names += ' ' + writer->name;
  }
  const bool asks = !names.empty();
  const std::string_view way = shares_[host].is_spread ? "spread" : "directly";
  std::string question = fmt::format("stage {} {}{}\n", transfer.bytes, way, names);
  co_await talk.write(std::move(question));
  if (!asks) co_return false;
  std::optional<asio::steady_timer> limit;
  if (spread_.serves(host, shares_[host])) {
    limit.emplace(spread_.stop_later(
        co_await asio::this_coro::executor,
        [stream = talk.stream()](link::Failure failure) { stream->stop(std::move(failure)); }));
  }
  const std::string answer = co_await talk.answer();
  limit.reset();
  for (const std::shared_ptr<Writer>& writer : others) {
    if (answer != "shared " + writer->name) continue;
    if (!transfer.elsewhere.empty()) refuse_link_elsewhere(transfer.elsewhere, request_.target);
    shares_[host].shared_with = writer->host;
    spread_.arrive(host);
    while (!writer->is_done && !writer->has_failed) {  // else nobody would clear its list, see ~Claim
      const auto changed = std::make_shared<Event>(co_await asio::this_coro::executor);
      writer->waiting.push_back(changed);
      co_await changed->wait();
    }
    if (writer->is_done) co_return true;
    throw HostError(
        {kCopying, Cause::other, "the host that writes the same file system failed", link::Retry::may_help});
  }
  co_return false;
}

/// The paths that only a host has and that it keeps: those that are not in the directory that was named.
std::vector<bool> Push::kept_among(const std::vector<HostOnly>& paths) const {
  const std::string& top = tree().entries().front().path;
  const std::string above = top.empty() ? "" : fmt::format("{}/", top);
  std::vector<bool> kept;
  for (const HostOnly& each : paths) kept.push_back(!each.path.starts_with(above));
  return kept;
}

std::string switch_command() { return "set -- /bin/sh \"$podrun_dir\"/podrun.switch"; }

}  // namespace podrun::transfer
