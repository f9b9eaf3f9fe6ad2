// SPDX-License-Identifier: Apache-2.0
// The conversation with top.sh: which tick is due, and what else it asks for.
#include "podrun/top/sampling.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <asio/redirect_error.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "podrun/base/at_end.hpp"
#include "podrun/supervisor/program_reader.hpp"
#include "podrun/top/scripts.hpp"
#include "podrun/top/top_failures.hpp"

namespace podrun::top {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirst{1'000};   ///< between the first two frames
constexpr milliseconds kSpread{1'000};  ///< the ticks of all hosts come within this time
/// --once waits this long for answers that take longer than a frame, and looks so often.
constexpr milliseconds kPatienceOnce{4'000};
constexpr milliseconds kLookOnce{300};
constexpr std::chrono::seconds kMostOnce{20};  ///< for a host that has stopped answering
// Of a host's uptime, in seconds:
constexpr double kSlowEvery = 30;
constexpr double kClockEvery = 60;
constexpr double kSilentAfter = 10;
constexpr double kAskSilentAgain = 600;
constexpr double kHoldersAtMost = 5;
constexpr milliseconds::rep kMostBetweenGpus = 5;  ///< rows of nvidia-smi that are much older do not count
constexpr std::size_t kStatEvery = 5;              ///< ticks
constexpr std::size_t kMostPids = 32;
/// When a run begins or ends on one host, all hosts list their holders again, at most once in this time.
constexpr std::chrono::seconds kBetweenChanges{15};
/// With long intervals the first frames come sooner.
constexpr milliseconds kBeginning{2'000};
constexpr std::size_t kTicksOfBeginning = 4;

/// Throws HostError if the program ends before the frame is complete.
asio::awaitable<void> read_frame(supervisor::ProgramReader& reader, FrameReader& frames) {
  for (bool is_complete = false; !is_complete;) {
    const std::optional<Chunk> bytes = co_await reader.read();
    if (!bytes)
      throw link::HostError({kSampling, link::Cause::ended_early, reader.describe_end(),
                             reader.was_killed() ? link::Retry::may_help : link::Retry::no});
    is_complete = frames.feed(bytes->bytes());
  }
}

}  // namespace

Sampling::Sampling(Pod& pod, const SampleRequest& request, std::function<void(std::size_t)> on_frame)
    : pod_(pod),
      request_(request),
      on_frame_(std::move(on_frame)),
      interval_(request.interval),
      asked_(pod.hosts().size()),
      sampled_(pod.hosts().size()) {}

asio::awaitable<void> Sampling::prepare(std::size_t host, supervisor::Supervised& supervised) {
  static const Chunk script{std::string(kTopScript)};
  const auto seconds = std::clamp<milliseconds::rep>(request_.interval.count() / 1000, 1, kMostBetweenGpus);
  std::vector<std::string> words =
      TopWords{.gpu = request_.asks_gpus ? "1" : "", .seconds = std::to_string(seconds)}.list();
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  asked_[host] = {.timer = std::make_unique<asio::steady_timer>(executor),
                  .tpu = std::make_shared<TpuMetrics>(executor)};
  const AtEnd stop_metrics([metrics = asked_[host].tpu] { metrics->stop(); });
  supervisor::StartedProgram program = co_await supervised.start_program(script, std::move(words));
  supervisor::ProgramReader reader(std::move(program));
  FrameReader frames(pod_.report(host));
  asio::steady_timer limit(executor);
  if (request_.is_once) {
    limit.expires_after(kMostOnce);
    limit.async_wait([late = std::weak_ptr(reader.stream())](const std::error_code& error) {
      if (const auto stream = late.lock(); stream && !error)
        stream->stop({kSampling, link::Cause::timed_out, "", link::Retry::no, kMostOnce});
    });
  }
  std::pair<std::optional<Counters>, std::optional<Counters>> rated;
  for (std::size_t taken = 0;; ++taken) {
    const Clock::time_point asked_at = Clock::now();
    Chunk text(tick(host));
    co_await reader.stream()->write(std::move(text));  // the end of the stream tells why
    co_await read_frame(reader, frames);
    // Once, the rates are those of a second in which podrun has asked for nothing else.
    HostReport& report = pod_.report(host);
    if (request_.is_once && taken == 1) rated = {report.before, report.now};
    add_frame(host, asked_at);
    if (report.before) ++sampled_[host];
    if (request_.is_once && taken > 1) {
      std::tie(report.before, report.now) = rated;
      pod_.update_chips(host);
    }
    if (!report.metric_ports.empty()) {
      // Beside the frames, since a service may hang.
      asked_[host].tpu->ask(supervised, report, [this, host] { pod_.update_chips(host); });
      if (request_.is_once && !std::exchange(asked_[host].waited_for_tpu, true))
        co_await asked_[host].tpu->wait(kPatienceOnce);
    }
    if (request_.is_once ? is_complete(asked_[host], pod_.rows()[host].report)
                         : request_.count && sampled_[host] >= *request_.count)
      break;
    co_await wait_for_turn(host);
  }
  reader.stream()->close_write();
}

/// The moment of the frame is in the middle between question and answer.
void Sampling::add_frame(std::size_t host, Clock::time_point asked_at) {
  const Clock::time_point now = Clock::now();
  const HostReport& report = pod_.rows()[host].report;
  Asked& asked = asked_[host];
  const std::set<std::string> before = pod_.rows()[host].runs;
  if (report.holders && asked.holders_at && report.holders_at >= *asked.holders_at)
    asked.awaits_holders = false;
  constexpr std::chrono::seconds kMostDelay{1};  // half of it is how wrong the clock would seem
  std::optional<double> clock;
  if (now - asked_at <= kMostDelay) {
    const auto answered = std::chrono::system_clock::now() - (now - asked_at) / 2;
    clock = std::chrono::duration<double>(answered.time_since_epoch()).count();
  }
  pod_.add_frame(host, now, clock);
  const bool was_quiet = !changed_at_ || now - *changed_at_ > kBetweenChanges;
  if (pod_.rows()[host].runs != before && was_quiet) changed_at_ = now;
  on_frame_(host);
}

std::string Sampling::tick(std::size_t host) {
  HostReport& report = pod_.report(host);
  Asked& asked = asked_[host];
  const double uptime = report.now ? report.now->at : 0;
  std::vector<std::uint64_t> pids;
  if (report.holders) {
    for (const devices::DeviceHolder& holder : report.holders->holders) {
      if (pids.size() < kMostPids) pids.push_back(holder.pid);
    }
  }
  std::string text = letters(asked, report, uptime);
  const std::string mounts = mounts_to_ask(report, uptime);
  ++asked.ticks;
  return fmt::format("{} {} {}\n", text.empty() ? "-" : text, mounts.empty() ? "-" : mounts,
                     pids.empty() ? "-" : fmt::format("{}", fmt::join(pids, ",")));
}

/// The first tick asks only for a frame, since nothing is known of the host before.
std::string Sampling::letters(Asked& asked, const HostReport& report, double uptime) const {
  std::string text;
  if (asked.ticks < 2 || asked.ticks % kStatEvery == 0) text += 's';
  if (asked.ticks == 0) return text;
  if (!asked.clock_at || uptime - *asked.clock_at >= kClockEvery) {
    text += 'c';
    asked.clock_at = uptime;
  }
  if (request_.asks_gpus && report.gpus_ended_at && uptime - *report.gpus_ended_at >= kSlowEvery) text += 'g';
  const bool was_asked = asked.holders_at.has_value();
  const double since = was_asked ? uptime - *asked.holders_at : kSlowEvery;
  const bool has_changed =
      !report.gone.empty() || (changed_at_ && was_asked && asked.holders_asked < *changed_at_);
  if (!asked.awaits_holders && (since >= kSlowEvery || (has_changed && since >= kHoldersAtMost))) {
    text += 'h';
    asked.awaits_holders = true;
    asked.holders_at = uptime;
    asked.holders_asked = Clock::now();
  }
  return text;
}

/// Never one that has not answered: it may hang, and each question would leave a process there. After another
/// connection podrun asks it rarely.
std::string Sampling::mounts_to_ask(HostReport& report, double uptime) const {
  std::vector<std::size_t> asked;
  for (std::size_t index = 0; report.now && index < report.mounts.size(); ++index) {
    Mount& mount = report.mounts[index];
    if (mount.is_asked) {
      mount.is_silent = mount.is_silent || uptime - mount.asked_at > kSilentAfter;
      continue;
    }
    const bool is_first = !mount.at && mount.asked_at == 0;
    if (!is_first && uptime - mount.asked_at < (mount.is_silent ? kAskSilentAgain : kSlowEvery)) continue;
    mount.is_asked = true;
    mount.asked_at = uptime;
    asked.push_back(index);
  }
  return fmt::format("{}", fmt::join(asked, ","));
}

bool Sampling::is_complete(const Asked& asked, const HostReport& report) const {
  if (asked.ticks < 3) return false;
  const bool has_mounts = std::ranges::none_of(report.mounts, &Mount::is_asked);
  const bool has_gpus =
      !request_.asks_gpus || report.gpus == 0 || report.chips_at || !report.gpu_text.empty();
  const auto waited =
      std::chrono::milliseconds(static_cast<milliseconds::rep>(asked.ticks - 1) * kLookOnce.count());
  return (report.clock && !asked.awaits_holders && has_mounts && has_gpus) || waited > kPatienceOnce;
}

asio::awaitable<void> Sampling::wait_for_turn(std::size_t host) {
  Asked& asked = asked_[host];
  if (asked.is_stopped) co_return;
  Clock::time_point next = Clock::now() + (asked.ticks == 1 ? kFirst : kLookOnce);
  const bool begins = interval_ > kBeginning && asked.ticks <= kTicksOfBeginning;
  if (!request_.is_once && begins && asked.ticks > 1) next = Clock::now() + kBeginning;
  if (!request_.is_once && !begins && asked.ticks > 1) {
    // On a grid, so that hosts can be compared, and each with its place in the second, so that not all answer
    // at once.
    const milliseconds place =
        kSpread * static_cast<milliseconds::rep>(host) / static_cast<milliseconds::rep>(asked_.size());
    const auto passed = std::chrono::duration_cast<milliseconds>(Clock::now() - begun_ - place);
    next = begun_ + place + (passed / interval_ + 1) * interval_;
    if (next - Clock::now() < interval_ / 2) next += interval_;
  }
  asked.timer->expires_at(next);
  std::error_code cancelled;
  co_await asked.timer->async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
}

void Sampling::stop(std::size_t host) {
  asked_[host].is_stopped = true;
  if (asked_[host].timer) asked_[host].timer->cancel();
  if (asked_[host].tpu) asked_[host].tpu->stop();
}

}  // namespace podrun::top
