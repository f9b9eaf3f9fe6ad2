// SPDX-License-Identifier: Apache-2.0
#include "podrun/jobs/kept_log.hpp"

#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/base/text.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/label.hpp"
#include "podrun/output/status_line.hpp"

namespace podrun::jobs {
namespace {

constexpr std::string_view kHosts = "/hosts";  ///< lines: WORKER NAME
constexpr std::string_view kDoing = "/doing";  ///< the status line, then the list of Enter
constexpr std::size_t kLongest =
    2 * 1024 * 1024;  ///< more than a line of output::line_limit() with its label
constexpr std::size_t kTime = std::string_view("2026-11-28T04:05:26Z ").size();  ///< see LogTimes

/// The parts of a status line that output::compose_status() has joined.
output::StatusText parts_of(std::string_view line) {
  output::StatusText parts;
  const bool is_utf8 = line.find(output::separator(output::Charset::utf8)) != npos;
  const std::string_view between =
      output::separator(is_utf8 ? output::Charset::utf8 : output::Charset::ascii);
  for (std::size_t end = line.find(between); end != npos; end = line.find(between)) {
    parts.push_back({output::escape_controls(line.substr(0, end))});
    line.remove_prefix(end + between.size());
  }
  parts.push_back({output::escape_controls(line)});
  return parts;
}

}  // namespace

void note_hosts(const std::string& directory, const std::vector<hosts::Host>& hosts) {
  std::string text;
  for (const hosts::Host& host : hosts) text += fmt::format("{} {}\n", host.worker, host.name);
  replace_file(directory + std::string(kHosts), text);
}

std::optional<KeptLog> find_kept_log(const hosts::Probe& probe, const std::string& name,
                                     std::uint64_t start) {
  const std::optional<std::string> home = probe.env("HOME");
  if (!home) return std::nullopt;
  KeptLog log{.directory = fmt::format("{}/.podrun/jobs/{}/{}/{}", *home, name, kPlaceOfThisMachine, start)};
  const std::optional<std::string> text = probe.read_file(log.directory + std::string(kHosts));
  if (!text) return std::nullopt;
  for (const std::string_view line : split(*text, '\n')) {
    std::string_view host = line;
    const std::optional<std::size_t> worker = to_number(take_part(host, ' '));
    if (worker) log.hosts.push_back({.worker = *worker, .name = std::string(host)});
  }
  return log.hosts.empty() ? std::nullopt : std::optional(std::move(log));
}

std::optional<report::OwnWords> words_of_kept_run(const hosts::Probe& probe, const KeptLog& log) {
  std::string text;
  try {
    text = probe.read_file(log.directory + std::string(kDoing)).value_or("");
  } catch (const UsageError&) {  // it cannot be read now
  }
  if (text.empty()) return std::nullopt;
  std::string_view rest = text;
  report::OwnWords words{parts_of(take_part(rest, '\n')), {}, {}};
  while (!rest.empty()) words.list.push_back(output::escape_controls(take_part(rest, '\n')));
  return words;
}

KeptLines::KeptLines(const std::vector<hosts::Host>& hosts, bool is_stamped)
    : is_stamped_(is_stamped), lines_{output::LineSplitter(kLongest), output::LineSplitter(kLongest)} {
  for (std::size_t host = 0; host < hosts.size(); ++host) indexes_[hosts[host].worker] = host;
}

void KeptLines::pass_on(StreamId stream, std::string_view bytes, output::Output& output) {
  while (const auto line = lines_[index_of(stream)].next(bytes)) pass_on_line(line->text, output);
}

void KeptLines::pass_on_line(std::string_view line, output::Output& output) {
  const std::string_view time = line.substr(0, is_stamped_ ? kTime : 0);
  const auto stored = output::read_stored_line(line.substr(time.size()));
  const auto of = stored ? indexes_.find(stored->worker) : indexes_.end();
  if (of == indexes_.end()) return output.say(output::escape_controls(line));
  for (Chunk& chunk : to_chunks(fmt::format("{}{}\n", time, stored->text)))
    output.write(of->second, stored->stream, std::move(chunk));
}

asio::awaitable<void> KeptLines::wait_for_room(output::Output& output) {
  for (const auto& [worker, host] : indexes_) {
    if (!output.has_room(host)) co_await output.wait_for_room(host);
  }
}

void KeptLines::end(output::Output& output) {
  for (output::LineSplitter& lines : lines_) {
    if (const auto line = lines.end()) pass_on_line(line->text, output);
  }
  for (const auto& [worker, host] : indexes_) output.end(host);
}

}  // namespace podrun::jobs
