// SPDX-License-Identifier: Apache-2.0
#include "status.hpp"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "podrun/hosts/discovery.hpp"
#include "podrun/output/terminal.hpp"
#include "podrun/run/status.hpp"
#include "podrun/run/summary.hpp"

namespace podrun {
namespace {

/// Shorter runs show nothing.
constexpr std::chrono::milliseconds kNotBefore{500};
constexpr std::chrono::milliseconds kRefresh{200};
/// Where nothing can be painted: how often it is seen whether there is something new, and the least time
/// between two lines.
constexpr std::chrono::milliseconds kLook{1000};
constexpr std::chrono::seconds kBetweenLines{10};

}  // namespace

StatusStyle choose_status_style(const Options& options, const Probe& probe) {
  StatusStyle style;
  const bool err_is_terminal = is_terminal(STDERR_FILENO);
  const bool out_is_pipe = is_pipe(STDOUT_FILENO);
  style.way =
      choose_status_way(options.progress, {probe.env("TERM").value_or(""), err_is_terminal, out_is_pipe});
  style.charset = choose_charset(probe.env("LC_ALL"), probe.env("LC_CTYPE"), probe.env("LANG"));
  style.lists = options.progress != Progress::never && err_is_terminal && !out_is_pipe &&
                is_terminal(STDIN_FILENO) && !options.feed_input && !reads_standard_input(options.hosts);
  return style;
}

StatusDisplay::StatusDisplay(const asio::any_io_executor& executor, const FanOut& fan_out, Output& output,
                             const StatusStyle& style)
    : fan_out_(fan_out), output_(output), style_(style), timer_(executor) {
  if (style_.lists) typed_lines_.emplace(executor, [this](std::size_t lines) { list(lines); });
  show();
}

void StatusDisplay::show() {
  if (typed_lines_) typed_lines_->start();
  if (style_.way == StatusWay::none) return;
  shown_ = true;
  timer_.expires_at(std::max(begin_ + kNotBefore, Clock::now()));
  arm();
}

void StatusDisplay::hide() {
  if (typed_lines_) typed_lines_->stop();
  shown_ = false;  // a handler may be on its way already
  timer_.cancel();
  output_.say_status({});
}

void StatusDisplay::arm() {
  timer_.async_wait([this](const std::error_code& error) {
    if (error || !shown_) return;
    refresh();
    timer_.expires_after(style_.way == StatusWay::painted ? kRefresh : kLook);
    arm();
  });
}

void StatusDisplay::refresh() {
  const TimePoint now = Clock::now();
  const Status status = fan_out_.status();
  rate_.count(status.bytes, now);
  if (style_.way == StatusWay::lines) {
    print_line(status, now);
    return;
  }
  std::vector<std::size_t> labels;
  for (const HostStatus& host : status.hosts) labels.push_back(host.host->label);
  output_.say_status(status_text(status, rate_.per_second(), now), std::move(labels));
}

void StatusDisplay::print_line(const Status& status, TimePoint now) {
  if (printed_at_ && now < *printed_at_ + kBetweenLines) return;
  StatusText counts = status_counts(status);
  if (counts.empty() || counts == printed_) return;
  printed_ = std::move(counts);
  printed_at_ = now;
  constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
  const StatusText text = status_text(status, rate_.per_second(), now);
  output_.say("podrun: " + compose_status(text, std::nullopt, style_.charset, kNoLimit));
}

void StatusDisplay::list(std::size_t lines_typed) {
  output_.lines_typed(lines_typed);
  const Status status = fan_out_.status();
  for (std::string& line : status_list(status, Clock::now())) output_.say(std::move(line));
  std::vector<HostOutcome> failed(status.hosts.size());
  for (std::size_t host = 0; host < failed.size(); ++host) {
    if (status.hosts[host].failed) failed[host] = fan_out_.policy().outcomes()[host];
  }
  for (std::string& line : describe_failures(fan_out_.hosts(), failed)) output_.say(std::move(line));
}

}  // namespace podrun
