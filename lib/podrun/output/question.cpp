// SPDX-License-Identifier: Apache-2.0
// Asks a question on the controlling terminal, key by key, so that Ctrl-C, Ctrl-Z and signals end it at once.
#include "podrun/output/question.hpp"

#include <poll.h>
#include <termios.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>

#include "podrun/base/thread.hpp"
#include "podrun/output/terminal.hpp"

namespace podrun::output {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// While it exists, the terminal returns every key at once and shows none. Ctrl-C is then an ordinary key,
/// and cannot leave the terminal without echo.
class KeyByKey {
 public:
  explicit KeyByKey(int descriptor) : descriptor_(descriptor) {
    ::tcgetattr(descriptor_, &before_);
    termios now = before_;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    now.c_cc[VMIN] = 1;
    now.c_cc[VTIME] = 0;
    ::tcsetattr(descriptor_, TCSAFLUSH, &now);
  }
  KeyByKey(const KeyByKey&) = delete;
  KeyByKey& operator=(const KeyByKey&) = delete;
  ~KeyByKey() {
    if (in_foreground(descriptor_)) ::tcsetattr(descriptor_, TCSADRAIN, &before_);
  }

  bool is_suspend(int key) const {
    const cc_t suspend = before_.c_cc[VSUSP];
    return suspend != _POSIX_VDISABLE && key == suspend;
  }

 private:
  int descriptor_;
  termios before_{};
};

constexpr std::chrono::milliseconds kLookAgain{100};
constexpr std::size_t kLongestAnswer = 1023;  // as in ssh
constexpr int kCtrlC = 0x03;
constexpr int kCtrlD = 0x04;
constexpr int kCtrlU = 0x15;
constexpr int kBackspace = 0x08;
constexpr int kDelete = 0x7f;

/// The user typed Ctrl-Z.
struct Suspended {};

void erase_last(std::string& line, std::FILE* out, Echo echo) {
  if (line.empty()) return;
  line.pop_back();
  if (echo == Echo::on) std::fputs("\b \b", out);
}

/// Polls instead of blocking in read(), because a signal may come just before, or to another thread.
void wait_for_key(int descriptor, const std::function<bool()>& interrupted) {
  pollfd entry{descriptor, POLLIN, 0};
  do {
    if (interrupted()) throw QuestionInterrupted();
    if (!in_foreground(descriptor)) throw AskedInBackground();
  } while (::poll(&entry, 1, static_cast<int>(kLookAgain.count())) <= 0);
}

std::optional<std::string> read_line(std::FILE* in, std::FILE* out, Echo echo, const KeyByKey& keys,
                                     const std::function<bool()>& interrupted) {
  std::string line;
  line.reserve(kLongestAnswer);  // growing would leave copies of a secret in memory
  for (;;) {
    wait_for_key(::fileno(in), interrupted);
    errno = 0;
    const int key = std::fgetc(in);
    if (key == '\n' || key == '\r') return line;
    if (key == kCtrlC || (key == EOF && errno == EINTR)) throw QuestionInterrupted();
    if (keys.is_suspend(key)) throw Suspended();
    if (key == EOF || (key == kCtrlD && line.empty())) return std::nullopt;
    if (key == kBackspace || key == kDelete) {
      erase_last(line, out, echo);
    } else if (key == kCtrlU) {
      while (!line.empty()) erase_last(line, out, echo);
    } else if (line.size() < kLongestAnswer) {
      line += static_cast<char>(key);
      if (echo == Echo::on) std::fputc(key, out);
    }
    std::fflush(out);
  }
}

std::optional<std::string> ask_once(const std::string& question, std::FILE* in, std::FILE* out, Echo echo,
                                    const std::function<bool()>& interrupted) {
  // Comes first because it discards earlier typing, which was not meant for this question.
  const KeyByKey keys(::fileno(in));
  std::fputs(question.c_str(), out);
  std::fflush(out);
  std::optional<std::string> line;
  try {
    line = read_line(in, out, echo, keys, interrupted);
  } catch (const QuestionInterrupted&) {
    std::fputc('\n', out);
    throw;
  }
  std::fputc('\n', out);
  return line;
}

}  // namespace

bool can_ask_on_terminal() { return File(std::fopen("/dev/tty", "re")) != nullptr; }

std::optional<std::string> ask_on_terminal(const std::string& question, Echo echo, const Asker& asker) {
  const File in(std::fopen("/dev/tty", "re"));
  const File out(std::fopen("/dev/tty", "we"));
  if (!in || !out) return std::nullopt;
  std::setvbuf(in.get(), nullptr, _IONBF, 0);  // unbuffered, so that no secret stays in a buffer
  // In the background the terminal's signals would stop podrun, and under timeout(1) the user could not
  // continue it. With these signals blocked, reading fails instead.
  const SignalsBlocked blocked{SIGTTIN, SIGTTOU};
  for (;;) {
    if (!in_foreground(::fileno(in.get()))) throw AskedInBackground();
    try {
      return ask_once(question, in.get(), out.get(), echo, asker.interrupted);
    } catch (const Suspended&) {
      asker.suspend();  // the terminal has its own settings again here
    }
  }
}

}  // namespace podrun::output
