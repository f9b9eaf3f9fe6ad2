// SPDX-License-Identifier: Apache-2.0
// Shows the status line while a run goes on: when it is painted, and what Enter prints.
#include "podrun/session/status_display.hpp"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "podrun/output/terminal.hpp"
#include "podrun/report/status_line_words.hpp"
#include "podrun/report/summary.hpp"

namespace podrun::session {
namespace {

/// Shorter runs show nothing.
constexpr std::chrono::milliseconds kNotBefore{500};
constexpr std::chrono::milliseconds kRefresh{200};
constexpr std::chrono::seconds kRefreshList{1};
/// Where nothing can be painted: how often it is seen whether there is something new, and the least time
/// between two lines.
constexpr std::chrono::milliseconds kLook{1000};
constexpr std::chrono::seconds kBetweenLines{10};
/// How often TypedLines checks whether the terminal is ours again: no event tells it.
constexpr std::chrono::seconds kLookAgain{1};

}  // namespace

StatusStyle choose_status_style(output::Progress progress, bool input_is_used, const hosts::Probe& probe) {
  StatusStyle style;
  const bool err_is_terminal = output::is_terminal(STDERR_FILENO);
  const bool out_is_pipe = output::is_pipe(STDOUT_FILENO);
  style.way =
      output::choose_status_way(progress, {probe.env("TERM").value_or(""), err_is_terminal, out_is_pipe});
  style.charset = output::choose_charset(probe.env("LC_ALL"), probe.env("LC_CTYPE"), probe.env("LANG"));
  style.lists = progress != output::Progress::never && err_is_terminal && !out_is_pipe &&
                output::is_terminal(STDIN_FILENO) && !input_is_used;
  return style;
}

StatusDisplay::StatusDisplay(const asio::any_io_executor& executor, const run::FanOut& fan_out,
                             output::Output& output, const StatusStyle& style, Complete complete,
                             report::OwnWordsFor own_words)
    : fan_out_(fan_out),
      fan_out_lives_(fan_out.lender()),
      output_(output),
      style_(style),
      complete_(std::move(complete)),
      own_words_(std::move(own_words)),
      timer_(executor) {
  if (style_.lists) typed_lines_.emplace(executor, [this](TypedLines::Typed typed) { list(typed); });
  show();
}

void StatusDisplay::show() {
  if (typed_lines_) typed_lines_->start();
  if (style_.way == output::StatusWay::none) return;
  shown_ = true;
  timer_.expires_at(std::max(begin_ + kNotBefore, Clock::now()));
  arm();
}

void StatusDisplay::begin_again() {
  begin_ = Clock::now();
  show();
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
    const auto pause = style_.way == output::StatusWay::painted ? kRefresh : kLook;
    timer_.expires_after(style_.has_list ? kRefreshList : pause);
    arm();
  });
}

run::Status StatusDisplay::status() const {
  run::Status status = fan_out_.status();
  complete_(status);
  if (!style_.has_rate) status.bytes = 0;
  return status;
}

std::optional<report::OwnWords> StatusDisplay::own_words(const run::Status& status,
                                                         run::TimePoint now) const {
  return own_words_ ? own_words_(status, now) : std::nullopt;
}

output::StatusText StatusDisplay::text(const run::Status& status, run::TimePoint now) const {
  std::optional<report::OwnWords> own = own_words(status, now);
  return own ? std::move(own->line) : report::status_text(status, rate_.per_second(), now);
}

void StatusDisplay::refresh() {
  const run::TimePoint now = Clock::now();
  const run::Status status = this->status();
  rate_.count(status.bytes + (status.transfer ? status.transfer->done : 0), now);
  if (style_.way == output::StatusWay::lines) {
    print_line(status, now);
    return;
  }
  std::vector<std::size_t> workers;
  for (const run::HostStatus& host : status.hosts) workers.push_back(host.host->worker);
  output_.say_status(text(status, now), std::move(workers),
                     style_.has_list ? lines_of_list(status, now) : std::vector<std::string>());
}

void StatusDisplay::print_line(const run::Status& status, run::TimePoint now) {
  if (printed_at_ && now < *printed_at_ + kBetweenLines) return;
  const std::optional<report::OwnWords> own = own_words(status, now);
  output::StatusText counts = own ? output::StatusText{own->line.front()} : report::status_counts(status);
  if (counts.empty() || counts == printed_) return;
  printed_ = std::move(counts);
  printed_at_ = now;
  constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
  output_.say("podrun: " + output::compose_status(text(status, now), std::nullopt, style_.charset, kNoLimit));
}

void StatusDisplay::list(TypedLines::Typed typed) {
  output_.lines_typed(1);
  if (typed == TypedLines::Typed::text) return;
  for (std::string& line : lines_of_list(status(), Clock::now())) output_.say(std::move(line));
}

std::vector<std::string> StatusDisplay::lines_of_list(const run::Status& status, run::TimePoint now) const {
  std::optional<report::OwnWords> own = own_words(status, now);
  std::vector<std::string> lines = own ? std::move(own->list) : report::status_list(status, now);
  std::vector<run::HostOutcome> failed(status.hosts.size());
  for (std::size_t host = 0; host < failed.size(); ++host) {
    const run::HostStatus& each = status.hosts[host];
    if (each.exit_status)
      failed[host] = link::Exited{*each.exit_status};
    else if (each.failed)
      failed[host] = fan_out_.policy().outcomes()[host];
  }
  for (std::string& line : report::describe_failures(fan_out_.hosts(), failed))
    lines.push_back(std::move(line));
  return lines;
}

TypedLines::TypedLines(const asio::any_io_executor& executor, OnLine on_line)
    : terminal_(executor), later_(executor), on_line_(std::move(on_line)) {
  // Opened again: asio makes it non-blocking, which would affect every process that shares standard input.
  const int descriptor = ::open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  std::error_code refused;
  if (descriptor >= 0) terminal_.assign(descriptor, refused);
  if (refused) ::close(descriptor);
}

void TypedLines::start() {
  ++changes_;
  if (terminal_.is_open()) listen();
}

void TypedLines::stop() {
  ++changes_;
  later_.cancel();
  std::error_code ignored;
  terminal_.cancel(ignored);
}

void TypedLines::listen() {
  const unsigned change = changes_;
  if (is_ours()) {
    terminal_.async_wait(asio::posix::stream_descriptor::wait_read,
                         [this, change](const std::error_code& error) {
                           if (error || change != changes_) return;
                           if (!is_ours() || read()) listen();
                         });
  } else {
    later_.expires_after(kLookAgain);
    later_.async_wait([this, change](const std::error_code& error) {
      if (!error && change == changes_) listen();
    });
  }
}

/// Others of our group may read keys from it: a pager.
bool TypedLines::is_ours() {
  const int descriptor = terminal_.native_handle();
  termios settings{};
  return output::in_foreground(descriptor) && ::tcgetattr(descriptor, &settings) == 0 &&
         (settings.c_lflag & static_cast<tcflag_t>(ICANON)) != 0;
}

/// False: nothing more is to come.
bool TypedLines::read() {
  const int waiting = output::bytes_typed(terminal_.native_handle());
  if (waiting == 0) return false;
  if (waiting > 1) {
    // The text stays with the terminal, for the shell, and every later run of this process finds it again.
    static int known = 0;
    if (waiting > std::exchange(known, waiting)) on_line_(Typed::text);
    return false;
  }
  char typed = 0;
  const ssize_t count = ::read(terminal_.native_handle(), &typed, 1);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0) return false;
  on_line_(Typed::enter);
  return true;
}

}  // namespace podrun::session
