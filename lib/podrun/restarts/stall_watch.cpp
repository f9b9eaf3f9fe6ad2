// SPDX-License-Identifier: Apache-2.0
// Stalls: when hosts were silent for too long, their processes are looked at before anything is stopped; a
// host that prints meanwhile was slow, not stuck.
#include "podrun/restarts/stall_watch.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "podrun/base/descriptor.hpp"
#include "podrun/base/expect.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/hosts/host_name.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/label.hpp"
#include "podrun/restarts/scripts.hpp"
#include "podrun/restarts/stall_report.hpp"

namespace podrun::restarts {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kTimeOfCapture{90};
/// Beyond that, for the connection.
constexpr std::chrono::seconds kSlack{10};
constexpr std::chrono::minutes kLookAgain{1};
constexpr std::size_t kMost = 256 * 1024;  ///< bytes of a host
constexpr std::string_view kCaptured = "podrun-captured\n";
constexpr std::size_t kShownLines = 40;

const Chunk& capture_script() {
  static const Chunk script{std::string(kCaptureScript)};
  return script;
}

}  // namespace

bool ProgressReader::read(const Regex& progress, std::string_view bytes) {
  constexpr std::size_t kMostOfLine = 4096;
  bool is_progress = false;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find_first_of("\r\n");
    const std::string_view piece = bytes.substr(0, end);
    line_ += piece;
    const bool is_new = progress.find(has_matched_ ? piece : std::string_view(line_)).has_value();
    is_progress = is_progress || is_new;
    has_matched_ = has_matched_ || is_new;
    if (line_.size() > kMostOfLine) line_.erase(0, line_.size() - kMostOfLine);
    if (end == bytes.npos) break;
    bytes.remove_prefix(end + 1);
    line_.clear();
    has_matched_ = false;
  }
  return is_progress;
}

StallWatch::StallWatch(const StallSpec& spec, const std::vector<hosts::Host>& hosts, std::string directory,
                       std::function<void(output::Output&, const Told&)> tell)
    : spec_(spec),
      hosts_(hosts),
      directory_(std::move(directory)),
      tell_(std::move(tell)),
      heard_(hosts.size()) {}

void StallWatch::received(std::size_t host, StreamId stream, std::string_view bytes) {
  Heard& heard = heard_[host];
  ProgressReader& reader = heard.readers[stream == StreamId::out ? 0 : 1];
  if (!bytes.empty() && spec_.progress && !reader.read(*spec_.progress, bytes)) return;
  heard.last = Clock::now();
}

std::vector<HostSilence> StallWatch::silences(const run::FanOut& fan_out) const {
  const run::Status status = fan_out.status();
  expect(status.hosts.size() == hosts_.size(), "a StallWatch has the hosts of its run");
  std::vector<HostSilence> silences;
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    const run::HostStatus& each = status.hosts[host];
    silences.push_back(
        {each.state == run::RunPolicy::State::running, !each.reading_paused, heard_[host].last});
  }
  return silences;
}

asio::awaitable<void> StallWatch::look(run::FanOut& fan_out, output::Output& output) {
  const run::TimePoint now = Clock::now();
  if (!started_ || (not_before_ && now < *not_before_)) co_return;
  const std::vector<std::size_t> stalled = stalled_hosts(spec_.limits, silences(fan_out), *started_, now);
  if (stalled.empty()) co_return;
  Told told{.hosts = stalled, .directory = directory_};
  run::TimePoint last = *started_;
  for (const std::size_t host : stalled) last = std::max(last, heard_[host].last.value_or(last));
  told.silent = std::chrono::duration_cast<std::chrono::seconds>(now - last);
  const std::string who = output::fold_hosts(hosts_, stalled);
  const std::string time = format_duration(told.silent);
  output.say(fmt::format("podrun: {} silent for {}: looking at what they do", who, time));
  std::optional<std::vector<Captured>> captured = co_await capture(fan_out);
  not_before_ = Clock::now() + kLookAgain;
  if (!captured) {
    output.say("podrun: not every host answers: nothing is stopped yet");
    co_return;
  }
  store(*captured);
  std::stable_partition(captured->begin(), captured->end(), [&](const Captured& each) {
    return std::find(stalled.begin(), stalled.end(), each.host) != stalled.end();
  });
  const auto has_printed = [&](std::size_t host) { return heard_[host].last.value_or(*started_) > now; };
  told.is_over = std::any_of(stalled.begin(), stalled.end(), has_printed);
  show_captured(*captured, output);
  tell_(output, told);
  if (told.is_over) {
    output.say(fmt::format("podrun: {} printed again meanwhile: slow, not stuck", who));
    co_return;
  }
  output.say(fmt::format("podrun: {} silent for {}: stopping", who, time));
  fan_out.stop_stalled(stalled, told.silent);
}

/// From all hosts that run; none if one does not answer.
asio::awaitable<std::optional<std::vector<Captured>>> StallWatch::capture(run::FanOut& fan_out) {
  struct Capturing {
    explicit Capturing(const asio::any_io_executor& executor) : over(executor) {}
    std::vector<Captured> captured = {};
    std::size_t asked = 0;
    std::size_t answered = 0;
    bool is_missing = false;
    asio::steady_timer over;
  };
  const auto executor = co_await asio::this_coro::executor;
  const auto answers = std::make_shared<Capturing>(executor);
  const run::Status status = fan_out.status();
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    if (status.hosts[host].state != run::RunPolicy::State::running) continue;
    ++answers->asked;
    const auto done = [answers, host](std::optional<std::string> text) {
      ++answers->answered;
      answers->is_missing = answers->is_missing || !text;
      if (text) {
        if (text->ends_with(kCaptured)) text->resize(text->size() - kCaptured.size());
        answers->captured.push_back({host, std::move(*text)});
      }
      if (answers->answered == answers->asked) answers->over.cancel();
    };
    CaptureWords words{.time = std::to_string(kTimeOfCapture.count()),
                       .worker = std::to_string(hosts_[host].worker),
                       .script = spec_.script};
    fan_out.run_beside(host, capture_script(), std::move(words).list(), {.most = kMost, .end = kCaptured},
                       done);
  }
  if (answers->answered < answers->asked) {
    answers->over.expires_after(kTimeOfCapture + kSlack);
    std::error_code cancelled;
    co_await answers->over.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  }
  if (answers->is_missing || answers->answered < answers->asked) co_return std::nullopt;
  std::sort(answers->captured.begin(), answers->captured.end(),
            [](const Captured& a, const Captured& b) { return a.host < b.host; });
  co_return std::move(answers->captured);
}

/// Some of each group, and where all of it is.
void StallWatch::show_captured(const std::vector<Captured>& captured, output::Output& output) const {
  for (const std::string& line : describe_captures(hosts_, captured, kShownLines)) output.say("    " + line);
  if (!directory_.empty())
    output.say(fmt::format("podrun: all of it is in {}", output::escape_controls(directory_)));
}

/// Failures are ignored: the beginning of it is printed.
void StallWatch::store(const std::vector<Captured>& captured) const {
  if (directory_.empty()) return;
  make_private_directory(directory_);
  for (const Captured& each : captured) {
    const std::string path = fmt::format("{}/{}.txt", directory_, hosts::host_file_name(hosts_[each.host]));
    const Descriptor file(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (file.is_open()) write_whole(file.get(), each.text);
  }
}

}  // namespace podrun::restarts
