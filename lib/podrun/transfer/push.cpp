// SPDX-License-Identifier: Apache-2.0
// The conversation of a push with each host: the host lists what it has, gets what differs, and confirms the
// digest of what arrived.
#include "podrun/transfer/push.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include <asio/this_coro.hpp>
#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"
#include "podrun/supervisor/program_reader.hpp"
#include "podrun/transfer/digest.hpp"
#include "podrun/transfer/remote_paths.hpp"
#include "podrun/transfer/scripts.hpp"
#include "podrun/transfer/side_work.hpp"
#include "podrun/transfer/switch_text.hpp"

namespace podrun::transfer {
namespace {

using link::Cause;
using link::HostError;
using link::Stage;

/// The most paths that a host lists by name; with more, it lists everything below the target.
constexpr std::size_t kMaxNames = 500;
constexpr std::size_t kMaxNamesText = 32 * 1024;
constexpr std::size_t kNonceSize = 16;

// One text for all hosts.
const Chunk& push_script() {
  static const Chunk script{std::string(kPushScript)};
  return script;
}
const Chunk& sums_script() {
  static const Chunk script{std::string(kSumsScript)};
  return script;
}

/// The last part of a path on the hosts.
std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// The paths directly below the target.
std::vector<std::string> top_names(const LocalTree& tree) {
  std::vector<std::string> names;
  for (const Entry& entry : tree.entries()) {
    if (!entry.path.empty() && entry.path.find('/') == entry.path.npos) names.push_back(entry.path);
  }
  return names;
}

std::string digest_of_file(const std::string& path, DigestKind kind) {
  Digest digest(kind);
  std::ifstream file(path, std::ios::binary);
  std::string block(Archive::kBlock, '\0');
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0)
    digest.update(std::string_view(block).substr(0, static_cast<std::size_t>(file.gcount())));
  if (!file.eof()) throw LocalFileError(path + ": cannot be read");
  return digest.finish();
}

bool can_be_name(const std::string& target) {
  const std::string name = last_name(target);
  return !name.empty() && name != "." && name != ".." && target != "~";
}

}  // namespace

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

/// Talks with the program on the host.
class Push::Talk {
 public:
  Talk(supervisor::StartedProgram program, std::string own_name)
      : name(std::move(own_name)), reader_(std::move(program)) {}

  /// The next output of the program. Throws HostError at its end.
  asio::awaitable<std::string> read() {
    const std::optional<Chunk> output = co_await reader_.read();
    if (!output) throw HostError({Stage::copying, Cause::ended_early, reader_.describe_end()});
    co_return std::string(output->bytes());
  }

  asio::awaitable<void> read(ScanReply& reply) {
    const std::string already = std::exchange(text_, {});
    reply.feed(already);
    while (!reply.is_complete()) {
      const std::string output = co_await read();
      reply.feed(output);
    }
    text_ = reply.take_rest();
  }

  /// The next line. Throws HostError for "error …".
  asio::awaitable<std::string> answer() {
    for (;;) {
      std::optional<std::string> line = take_answer(text_);
      if (line) co_return std::move(*line);
      text_ += co_await read();
    }
  }

  /// The next output; nothing at its end.
  asio::awaitable<std::optional<Chunk>> read_to_end() { return reader_.read(); }

  asio::awaitable<bool> write(Chunk chunk) { return reader_.stream()->write(std::move(chunk)); }
  asio::awaitable<bool> write(std::string text) { return reader_.stream()->write(Chunk(std::move(text))); }
  void close_write() { reader_.stream()->close_write(); }
  const std::shared_ptr<link::Stream>& stream() const { return reader_.stream(); }

  const std::string name;  ///< the end of the staging directory's name

 private:
  supervisor::ProgramReader reader_;
  std::string text_;  ///< output that was not read yet
};

struct Push::Scan {
  ScanHeader header;
  Comparison comparison;
};

Push::Push(PushRequest request, std::size_t hosts)
    : request_(std::move(request)), tree_(LocalTree::read(request_.tree)), shares_(hosts) {
  const bool is_single = tree_.entries().size() == 1 && tree_.entries().front().kind != Kind::directory;
  if (is_single && can_be_name(request_.target)) {
    TreeRequest renamed = request_.tree;
    renamed.into = last_name(request_.target);
    renamed_ = LocalTree::read(renamed);
  }
}

asio::awaitable<void> Push::prepare(std::size_t host, supervisor::Supervised& supervised) {
  shares_[host] = {};
  // A staging directory of this host's earlier attempt may still exist, but is removed when that connection
  // ends.
  for (auto& [inode, writers] : writers_)
    std::erase_if(writers, [&](const std::shared_ptr<Writer>& writer) { return writer->host == host; });
  try {
    co_await converse(host, supervised);
  } catch (const LocalFileError& error) {
    throw HostError({Stage::copying, Cause::local_file_failed, error.what()});
  } catch (const std::system_error& error) {  // no thread
    throw HostError({Stage::copying, Cause::local_limit, error.what()});
  }
}

asio::awaitable<void> Push::converse(std::size_t host, supervisor::Supervised& supervised) {
  std::string name = supervisor::random_id().substr(0, kNonceSize);
  std::vector<std::string> words = arguments(supervised, name);
  supervisor::StartedProgram program = co_await supervised.start_program(push_script(), std::move(words));
  Talk talk(std::move(program), std::move(name));
  Scan found = co_await scan(talk);
  if (request_.keep_dir_links) co_await keep_links(talk, found.comparison);
  if (request_.compare == Compare::contents) co_await compare_contents(supervised, found);
  const ScanHeader header = found.header;
  Transfer transfer;
  std::function<void()> decide = [&] { transfer = this->transfer(found.comparison); };
  co_await run_on_thread(std::move(decide));  // the host chooses how much there is to sort
  check_deleted(transfer);
  HostShare& share = shares_[host];
  share.files = transfer.files;
  share.bytes = transfer.bytes;
  share.deleted = transfer.deleted;
  share.replaced_links = transfer.replaced_links;
  share.has_attributes = transfer.has_attributes;
  if (request_.only_look) {
    share.chosen = std::move(transfer.chosen);
    talk.close_write();
    co_return;
  }
  if (transfer.is_empty()) {
    std::string line = "nothing\n";
    co_await talk.write(std::move(line));
    talk.close_write();
    co_await talk.answer();
  } else {
    const auto own = std::make_shared<Writer>(Writer{host, talk.name});
    const Claim claim(own);
    writers_[header.inode].push_back(own);
    const bool shared = co_await follow(talk, host, header.inode, transfer, *own);
    if (!shared) co_await stage(talk, host, header, transfer);
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

/// Throws if the hosts disagree whether the target is a directory, since the file's name depends on it.
const LocalTree& Push::tree_for(const ScanHeader& header) {
  if (header.is_name && !renamed_) throw HostError({Stage::copying, Cause::unexpected_answer, "-name"});
  if (!is_name_) is_name_ = header.is_name;
  if (*is_name_ != header.is_name) {
    throw HostError({Stage::copying, Cause::not_comparable,
                     fmt::format("\"{0}\" is a directory on some hosts only (write \"{0}/\" to copy into it)",
                                 request_.target)});
  }
  return tree();
}

asio::awaitable<Push::Scan> Push::scan(Talk& talk) {
  std::optional<Comparison> comparison;
  const ScanHeader* header = nullptr;
  const auto begin = [&] {
    if (!comparison)
      comparison.emplace(tree_for(*header), request_.compare, request_.remove,
                         PathBudget(request_.max_files));
  };
  ScanReply reply([&](const HostEntry& entry) {
    begin();
    if (header->exists) comparison->take(entry);
  });
  header = &reply.header();
  co_await talk.read(reply);
  begin();
  Scan found{*header, std::move(*comparison)};
  co_return found;
}

/// Keeps links to directories where the tree has directories, and compares what they lead to. There may be
/// further links behind them.
asio::awaitable<void> Push::keep_links(Talk& talk, Comparison& comparison) {
  for (;;) {
    const std::vector<std::size_t> links = comparison.take_links();
    if (links.empty()) co_return;
    std::string line = request_.remove == Delete::yes ? "links delete" : "links -";
    for (const std::size_t index : links)
      line += fmt::format(" {} {}", index, shell_quote_in_line(tree().entries()[index].path));
    line += '\n';
    co_await talk.write(std::move(line));
    const std::string answer = co_await talk.answer();
    const std::vector<std::string_view> words = split(answer, ' ');
    if (words.size() != links.size() + 1 || words.front() != "links")
      throw HostError({Stage::copying, Cause::unexpected_answer, answer});
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (words[i + 1] != "0") comparison.keep_link(links[i], words[i + 1] == "2");
    }
    ScanReply reply([&](const HostEntry& entry) { comparison.take_behind_link(entry); });
    co_await talk.read(reply);
  }
}

/// The files of equal size, which are compared by their digests.
std::vector<std::size_t> Push::to_digest(const Scan& scan) const {
  std::vector<std::size_t> indices;
  const std::vector<PathState>& states = scan.comparison.states();
  for (std::size_t i = 0; i < states.size(); ++i) {
    const PathState& state = states[i];
    if (tree().entries()[i].kind == Kind::file && state.present && state.same_kind && !state.differs)
      indices.push_back(i);
  }
  return indices;
}

asio::awaitable<void> Push::compare_contents(supervisor::Supervised& supervised, Scan& scan) {
  const std::vector<std::size_t> indices = to_digest(scan);
  if (indices.empty()) co_return;
  std::vector<std::string> words =
      SumsWords{.target = target_directory(), .program = scan.header.digest_words}.list();
  supervisor::StartedProgram program = co_await supervised.start_program(sums_script(), std::move(words));
  Talk talk(std::move(program), {});
  std::string paths;
  for (const std::size_t index : indices) paths += "./" + tree().entries()[index].path + '\0';
  // busybox prints newlines in names unchanged.
  const auto is_end = [](char c) { return c == '\0' || c == '\n'; };
  const auto most = static_cast<std::size_t>(std::count_if(paths.begin(), paths.end(), is_end));
  asio::awaitable<void> reading = read_digests(talk, indices, most, scan);
  co_await send_while(talk.stream(), std::move(paths), std::move(reading));
}

/// `most`: the number of lines that the files may have.
asio::awaitable<void> Push::read_digests(Talk& talk, const std::vector<std::size_t>& indices,
                                         std::size_t most, Scan& scan) {
  std::vector<PathState>& states = scan.comparison.states();
  std::size_t count = 0;
  DigestLines lines([&](std::string_view digest) {
    if (++count > most)
      throw HostError({Stage::copying, Cause::unexpected_answer, "more digests than files"});
    if (count > indices.size()) return;
    const std::size_t index = indices[count - 1];
    std::string& local = digests_[{scan.header.digest, index}];
    if (local.empty()) local = digest_of_file(tree().local_path(tree().entries()[index]), scan.header.digest);
    states[index].differs = digest != local;
  });
  while (const std::optional<Chunk> output = co_await talk.read_to_end()) lines.feed(output->bytes());
  if (count == indices.size()) co_return;
  for (const std::size_t index : indices)
    states[index].differs = true;  // it is unknown whose digests arrived
}

Transfer Push::transfer(Comparison& comparison) const {
  std::vector<HostOnly> host_only = comparison.take_host_only();
  std::vector<HostOnly> deleted;
  std::vector<HostOnly> kept;
  if (!host_only.empty()) {
    const std::vector<bool> ignored = ignored_among(host_only, request_.tree);
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
      {Stage::copying, Cause::deletes_all,
       fmt::format("--delete would delete everything in \"{}\" (is \"{}\" the right source? --force "
                   "deletes it)",
                   request_.target, request_.tree.sources.front()),
       link::Retry::after_asking});
}

/// True if another host has written the file system that this host shares.
asio::awaitable<bool> Push::follow(Talk& talk, std::size_t host, const std::string& inode,
                                   const Transfer& transfer, Writer& own) {
  const std::vector<std::shared_ptr<Writer>> others = writers_[inode];
  std::string names;
  for (const std::shared_ptr<Writer>& writer : others) {
    if (&own != writer.get() && !writer->has_failed) names += ' ' + writer->name;
  }
  const bool asks = !names.empty();
  std::string question = fmt::format("stage {}{}\n", transfer.bytes, names);
  co_await talk.write(std::move(question));
  if (!asks) co_return false;
  const std::string answer = co_await talk.answer();
  for (const std::shared_ptr<Writer>& writer : others) {
    if (answer != "shared " + writer->name) continue;
    if (!transfer.elsewhere.empty()) {
      throw HostError(
          {Stage::copying, Cause::other,
           fmt::format("{}: a link to another file system than \"{}\", which hosts share (leave out "
                       "--keep-dir-links, and push to that directory by itself)",
                       transfer.elsewhere, request_.target)});
    }
    shares_[host].shared_with = writer->host;
    const auto changed = std::make_shared<Event>(co_await asio::this_coro::executor);
    writer->waiting.push_back(changed);
    while (!writer->is_done && !writer->has_failed) co_await changed->wait();
    if (writer->is_done) co_return true;
    throw HostError({Stage::copying, Cause::other, "the host that writes the same file system failed",
                     link::Retry::may_help});
  }
  co_return false;
}

/// Sends the archive at the host's own pace. A host that stops reading says why.
asio::awaitable<void> Push::stage(Talk& talk, std::size_t host, const ScanHeader& header,
                                  const Transfer& transfer) {
  const std::shared_ptr<Archive> archive = archive_of(transfer, header.digest);
  const Target target = header.exists ? Target::present : Target::missing;
  std::string trailer = tar_member("run/podrun.check", check_text(tree(), transfer));
  trailer += tar_member("run/podrun.switch", switch_text(tree(), transfer, target));
  trailer += end_of_archive();
  HostShare& share = shares_[host];
  share.total = archive->size() + trailer.size();
  share.began = std::chrono::steady_clock::now();
  bool is_read = true;
  for (std::uint64_t offset = 0; is_read && offset < archive->size();) {
    Chunk block = archive->read(offset);
    offset += block.size();
    share.sent += block.size();
    is_read = co_await talk.write(std::move(block));
  }
  std::string last = trailer;
  if (is_read) is_read = co_await talk.write(std::move(last));
  if (is_read) share.sent = share.total;
  talk.close_write();
  const std::string answer = co_await talk.answer();
  if (!is_read || answer != "staged " + archive->digest())
    throw HostError({Stage::copying, Cause::files_differ, answer});
}

/// Hosts that need the same paths read one archive.
std::shared_ptr<Archive> Push::archive_of(const Transfer& transfer, DigestKind kind) {
  std::weak_ptr<Archive>& known = archives_[{kind, transfer.chosen}];
  std::shared_ptr<Archive> archive = known.lock();
  if (!archive) known = archive = std::make_shared<Archive>(tree(), transfer.chosen, kind);
  return archive;
}

/// The directory that the paths of tree() are below.
std::string Push::target_directory() const {
  if (!is_name_.value_or(false)) return request_.target.empty() ? "." : request_.target;
  const std::size_t slash = request_.target.rfind('/');
  if (slash == std::string::npos) return "~";
  return slash == 0 ? "/" : request_.target.substr(0, slash);
}

std::string switch_command() { return "set -- /bin/sh \"$podrun_dir\"/podrun.switch"; }

}  // namespace podrun::transfer
