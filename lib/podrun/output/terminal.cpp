// SPDX-License-Identifier: Apache-2.0
// The only writer of stdout and stderr: waits for slow readers, notices closed ones, and keeps the status
// line apart.
#include "podrun/output/terminal.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/file_system.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/full_screen.hpp"
#include "podrun/output/wrap.hpp"

namespace podrun::output {
namespace {

/// Waits for room in a full pipe: another process may have made the inherited descriptor non-blocking.
void wait_until_writable(int fd) {
  pollfd entry{fd, POLLOUT, 0};
  ::poll(&entry, 1, -1);
}

std::error_code write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      wait_until_writable(fd);
    } else if (errno != EINTR) {
      return {errno, std::system_category()};
    }
  }
  return {};
}

bool is_writable(int fd, std::chrono::milliseconds within) {
  pollfd entry{fd, POLLOUT, 0};
  return ::poll(&entry, 1, static_cast<int>(within.count())) == 1 && (entry.revents & POLLOUT) != 0;
}

/// How long to wait for the end of another thread's write.
constexpr std::chrono::milliseconds kAMoment{50};

std::size_t columns_to_paint(int fd) { return in_foreground(fd) ? columns_of(fd) : 0; }

/// Whether the terminal echoes the end of a typed line.
bool echoes_newline(int fd) {
  termios settings{};
  return ::tcgetattr(fd, &settings) == 0 && (settings.c_lflag & static_cast<tcflag_t>(ECHO | ECHONL)) != 0;
}

}  // namespace

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

bool is_pipe(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

bool in_foreground(int descriptor) { return ::tcgetpgrp(descriptor) == ::getpgrp(); }

int bytes_typed(int descriptor) {
  int bytes = 0;
  return ::ioctl(descriptor, FIONREAD, &bytes) == 0 ? bytes : 0;
}

ScreenSize size_of(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0) return {};
  return {size.ws_col, size.ws_row};
}

std::size_t columns_of(int descriptor) {
  constexpr std::size_t kUsual = 80;
  const std::size_t columns = size_of(descriptor).columns;
  return columns > 0 ? columns : kUsual;
}

Terminal::Terminal(int out_fd, int err_fd, Columns columns)
    : streams_{{{out_fd, podrun::output::is_terminal(out_fd), {}},
                {err_fd, podrun::output::is_terminal(err_fd), {}}}},
      columns_(columns ? std::move(columns) : [err_fd] { return columns_to_paint(err_fd); }) {}

void Terminal::append(StreamId stream, std::initializer_list<std::string_view> parts) {
  if (error(stream)) return;
  if (segments_.empty() || segments_.back().stream != stream) segments_.push_back({stream, 0});
  const std::size_t before = buffer_.size();
  for (const std::string_view part : parts) buffer_ += part;
  segments_.back().size += buffer_.size() - before;
  if (is_terminal(stream) && buffer_.size() > before) line_open_ = buffer_.back() != '\n';
  if (buffer_.size() >= kBuffer) flush();
}

void Terminal::say(std::string_view line) {
  if (!keeps_messages_ || !is_terminal(StreamId::err)) return append(StreamId::err, {as_shown(line)});
  kept_.emplace_back(line);
  if (kept_.size() <= kMostKept) return;
  kept_.pop_front();
  ++dropped_;
}

void Terminal::show(std::string_view bytes, bool keeps_messages) {
  keeps_messages_ = keeps_messages;
  const bool was_shown = shows_screen_.exchange(keeps_messages && !wiped_);  // wipe() may come at any time
  const bool line_open = line_open_;                                         // on the screen below
  if (keeps_messages ? !wiped_ : was_shown) append(StreamId::out, {bytes});
  line_open_ = line_open;
  if (!keeps_messages) say_kept();
}

void Terminal::say_kept() {
  if (dropped_ > 0)
    say(fmt::format("podrun: {} earlier message{} left out", dropped_, dropped_ == 1 ? "" : "s"));
  dropped_ = 0;
  for (const std::string& message : std::exchange(kept_, {})) say(message);
}

void Terminal::flush() {
  {
    const std::lock_guard lock(time_mutex_);
    flush_began_ = std::chrono::steady_clock::now();
  }
  std::string_view rest = buffer_;
  for (const Segment& segment : segments_) {
    Stream& stream = streams_[index_of(segment.stream)];
    if (stream.is_terminal) write_status(status_.erase());
    if (!stream.error) stream.error = write_all(stream.fd, rest.substr(0, segment.size));
    rest.remove_prefix(segment.size);
  }
  buffer_.clear();
  segments_.clear();
  const std::lock_guard lock(time_mutex_);
  time_in_flush_ += std::chrono::steady_clock::now() - *flush_began_;
  flush_began_.reset();
}

std::chrono::steady_clock::duration Terminal::time_in_flush() const {
  const std::lock_guard lock(time_mutex_);
  return flush_began_ ? time_in_flush_ + (std::chrono::steady_clock::now() - *flush_began_) : time_in_flush_;
}

void Terminal::write_status_file(const StatusText& text, const std::vector<std::string>& list) {
  constexpr std::chrono::seconds kBetween{2};
  const TimePoint now = std::chrono::steady_clock::now();
  const bool is_news = !status_in_file_.starts_with(text.front().text);
  if (!is_news && now < file_written_ + kBetween) return;
  std::string lines =
      compose_status(text, std::nullopt, charset_, std::numeric_limits<std::size_t>::max()) + '\n';
  for (const std::string& line : list) lines += line + '\n';
  if (lines == status_in_file_) return;
  if (!replace_file(status_file_, lines)) return;
  status_in_file_ = std::move(lines);
  file_written_ = now;
}

void Terminal::say_status(StatusText text, std::optional<Bar> bar, const std::vector<std::string>& list) {
  if (!status_file_.empty() && !text.empty()) write_status_file(text, list);
  if (text.empty()) write_status(status_.erase());
  status_.say(std::move(text), std::move(bar));
}

void Terminal::lines_typed(std::size_t lines) {
  if (!echoes_newline(err_fd())) return;
  write_status(status_.erase_above(lines));
  if (segments_.empty()) line_open_ = false;
}

void Terminal::paint_status(TimePoint now) {
  if (now < status_.due()) return;
  const bool can_paint = !keeps_messages_ && !line_open_ && segments_.empty() && is_writable(err_fd(), {});
  write_status(status_.paint(now, can_paint ? columns_() : 0));
}

bool Terminal::holds_back(TimePoint now) const {
  return now < status_.stays_until() &&
         std::any_of(segments_.begin(), segments_.end(),
                     [&](const Segment& each) { return is_terminal(each.stream); });
}

Terminal::TimePoint Terminal::due() const {
  return segments_.empty() ? status_.due() : status_.stays_until();
}

void Terminal::wipe() {
  wiped_ = true;
  leave_screen_at_once();
  if (status_painted_ && columns_() > 0 && is_writable(err_fd(), kAMoment))
    write_all(err_fd(), StatusLine::kErase);
}

void Terminal::leave_screen_at_once() {
  const int out = stream_of(StreamId::out).fd;
  if (shows_screen_.exchange(false) && is_writable(out, kAMoment)) write_all(out, FullScreen::kLeave);
}

void Terminal::say_at_once(std::string_view line) {
  leave_screen_at_once();
  if (!is_writable(err_fd(), kAMoment)) return;
  write_all(err_fd(), as_shown(line));  // in one piece, so that it does not mix with another thread's output
}

bool Terminal::reader_has_gone() const {
  const int out = stream_of(StreamId::out).fd;
  pollfd entry{out, 0, 0};
  return is_pipe(out) && ::poll(&entry, 1, 0) == 1 && (entry.revents & (POLLERR | POLLHUP)) != 0;
}

/// A message with its newlines: it is wrapped on a terminal, and begins a line there.
std::string Terminal::as_shown(std::string_view message) const {
  if (!is_terminal(StreamId::err)) return std::string(message) + '\n';
  return (line_open_ ? "\n" : "") + wrap_message(message, columns_of(err_fd())) + '\n';
}

/// Errors are ignored here, because the status line is not output.
void Terminal::write_status(std::string_view bytes) {
  if (status_.painted()) status_painted_ = true;  // set early: wipe() may come at any time
  if (!bytes.empty() && !wiped_ && columns_() > 0) write_all(err_fd(), bytes);
  status_painted_ = status_.painted();
}

int print_answer(const std::string& text, Terminal& terminal) {
  terminal.append(StreamId::out, {text});
  terminal.flush();
  const std::error_code error = terminal.error(StreamId::out);
  if (!error) return 0;
  if (error == std::errc::broken_pipe) return kBrokenPipeStatus;
  print_notes({"cannot write standard output: " + error.message()}, terminal);
  return 1;
}

void print_notes(const std::vector<std::string>& notes, Terminal& terminal) {
  for (const std::string& note : notes) terminal.say("podrun: " + escape_controls(note));
  terminal.flush();
}

}  // namespace podrun::output
