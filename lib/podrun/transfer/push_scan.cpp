// SPDX-License-Identifier: Apache-2.0
// The first half of a push: reads the list of a host, and compares it with the local files, by digests where
// that is asked for.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"
#include "podrun/transfer/archive.hpp"
#include "podrun/transfer/digest.hpp"
#include "podrun/transfer/push.hpp"
#include "podrun/transfer/push_talk.hpp"
#include "podrun/transfer/remote_paths.hpp"
#include "podrun/transfer/scripts.hpp"
#include "podrun/transfer/side_work.hpp"
#include "podrun/transfer/source_file.hpp"
#include "podrun/transfer/transfer_failures.hpp"

namespace podrun::transfer {
namespace {

using link::Cause;
using link::HostError;

std::string digest_of_file(const LocalTree& tree, const Entry& entry, DigestKind kind) {
  Digest digest(kind);
  const SourceFile file(tree, entry);
  std::string block;
  for (std::uint64_t at = 0; at < entry.size; at += block.size()) {
    block.clear();
    file.read(at, std::min(entry.size, at + Archive::kBlock), block);
    digest.update(block);
  }
  return digest.finish();
}

}  // namespace

/// Throws if the hosts disagree whether the target is a directory, since the file's name depends on it.
const LocalTree& Push::tree_for(const ScanHeader& header) {
  if (header.is_name && !renamed_) throw HostError({kCopying, Cause::unexpected_answer, "-name"});
  if (!is_name_) is_name_ = header.is_name;
  if (*is_name_ != header.is_name) {
    throw HostError({kCopying, kNotComparable,
                     fmt::format("\"{0}\" is a directory on some hosts only (write \"{0}/\" to copy into it)",
                                 request_.target)});
  }
  return tree();
}

asio::awaitable<Push::Scan> Push::scan(PushTalk& talk) {
  std::optional<Comparison> comparison;
  const ScanHeader* header = nullptr;
  const auto begin = [&] {
    if (!comparison)
      comparison.emplace(tree_for(*header), request_.compare, request_.remove,
                         PathBudget(request_.max_files));
  };
  ScanReply reply([&](const HostEntry& entry) {
    begin();
    if (header->exists) comparison->add(entry);
  });
  header = &reply.header();
  co_await talk.read(reply);
  begin();
  Scan found{*header, std::move(*comparison)};
  co_return found;
}

/// Keeps links to directories where the tree has directories, and compares what they lead to. There may be
/// further links behind them.
asio::awaitable<void> Push::keep_links(PushTalk& talk, Comparison& comparison) {
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
      throw HostError({kCopying, Cause::unexpected_answer, answer});
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (words[i + 1] != "0") comparison.keep_link(links[i], words[i + 1] == "2");
    }
    ScanReply reply([&](const HostEntry& entry) { comparison.add_behind_link(entry); });
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
  static const Chunk script{std::string(kSumsScript)};
  const std::vector<std::size_t> indices = to_digest(scan);
  if (indices.empty()) co_return;
  std::vector<std::string> words =
      SumsWords{.target = target_directory(), .program = scan.header.digest_words}.list();
  supervisor::StartedProgram program = co_await supervised.start_program(script, std::move(words));
  PushTalk talk(std::move(program), {});
  std::string paths;
  for (const std::size_t index : indices) paths += "./" + tree().entries()[index].path + '\0';
  // busybox prints newlines in names unchanged.
  const auto is_end = [](char c) { return c == '\0' || c == '\n'; };
  const auto most = static_cast<std::size_t>(std::count_if(paths.begin(), paths.end(), is_end));
  asio::awaitable<void> reading = read_digests(talk, indices, most, scan);
  co_await send_while(talk.stream(), std::move(paths), std::move(reading));
}

/// `most`: the number of lines that the files may have.
asio::awaitable<void> Push::read_digests(PushTalk& talk, const std::vector<std::size_t>& indices,
                                         std::size_t most, Scan& scan) {
  std::vector<PathState>& states = scan.comparison.states();
  std::size_t count = 0;
  DigestLines lines([&](std::string_view digest) {
    if (++count > most) throw HostError({kCopying, Cause::unexpected_answer, "more digests than files"});
    if (count > indices.size()) return;
    const std::size_t index = indices[count - 1];
    std::string& local = digests_[{scan.header.digest, index}];
    if (local.empty()) local = digest_of_file(tree(), tree().entries()[index], scan.header.digest);
    states[index].differs = digest != local;
  });
  while (const std::optional<Chunk> output = co_await talk.read_to_end()) lines.feed(output->bytes());
  if (count == indices.size()) co_return;
  for (const std::size_t index : indices)
    states[index].differs = true;  // it is unknown whose digests arrived
}

/// The directory that the paths of tree() are below.
std::string Push::target_directory() const {
  if (!is_name_.value_or(false)) return request_.target.empty() ? "." : request_.target;
  const std::size_t slash = request_.target.rfind('/');
  if (slash == std::string::npos) return "~";
  return slash == 0 ? "/" : request_.target.substr(0, slash);
}

}  // namespace podrun::transfer
