// SPDX-License-Identifier: Apache-2.0
// Reads a user's lines: from a file or pipe, or from a prompt with line editing by libedit. libedit's keys
// come through wait_for_input(), so that another thread can end the wait; its own signal handlers stay off.
#include "podrun/output/line_editor.hpp"

#include <fcntl.h>
#include <histedit.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cwchar>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/base/text.hpp"

namespace podrun::output {
namespace {

constexpr int kMostLines = 2000;
constexpr off_t kMostBytes = 4 * 1024 * 1024;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// Keys that libedit has no binding for, as xterm and its relatives send them.
constexpr std::array<std::array<const char*, 2>, 8> kKeys = {{
    {"^R", "em-inc-search-prev"},
    {"^W", "ed-delete-prev-word"},
    {"\\e[3~", "ed-delete-next-char"},
    {"\\e[H", "ed-move-to-beg"},
    {"\\e[F", "ed-move-to-end"},
    {"\\e[1;5C", "em-next-word"},
    {"\\e[1;5D", "ed-prev-word"},
    {"\\e[1~", "ed-move-to-beg"},
}};

File open_for_user_alone(const std::string& file, int flags) {
  const int descriptor = ::open(file.c_str(), flags | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor < 0) return nullptr;
  ::fchmod(descriptor, S_IRUSR | S_IWUSR);  // an older file may be readable for others
  return File(::fdopen(descriptor, "a+"));
}

}  // namespace

LineSource::LineSource() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (event_.get() < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

LineSource::~LineSource() = default;

void LineSource::wake(Woken reason) {
  if (reason_ != Woken::stopped) reason_ = reason;
  ::eventfd_write(event_.get(), 1);
}

LineSource::Woken LineSource::wait_for_input(int descriptor) {
  std::array<pollfd, 2> waited = {pollfd{event_.get(), POLLIN, 0}, pollfd{descriptor, POLLIN, 0}};
  for (;;) {
    if (::poll(waited.data(), waited.size(), -1) < 0) continue;  // EINTR
    eventfd_t count = 0;
    if (waited[0].revents == 0 || ::eventfd_read(event_.get(), &count) != 0) return Woken::readable;
    // With two calls at the same moment, the first wait may have taken both.
    const Woken reason = reason_.exchange(Woken::readable);
    if (reason != Woken::readable) return reason;
  }
}

std::optional<std::string> PlainLines::read(const std::string& /*prompt*/) {
  std::array<char, 4096> buffer{};
  for (;;) {
    const std::size_t newline = text_.find('\n');
    if (newline != std::string::npos) {
      std::string line = text_.substr(0, newline);
      text_.erase(0, newline + 1);
      return line;
    }
    if (ended_) return text_.empty() ? std::nullopt : std::optional(std::exchange(text_, {}));
    const Woken woken = wait_for_input(descriptor_);
    if (woken == Woken::stopped) return std::nullopt;
    if (woken == Woken::interrupted) continue;
    const ssize_t count = ::read(descriptor_, buffer.data(), buffer.size());
    if (count > 0) text_.append(buffer.data(), static_cast<std::size_t>(count));
    ended_ = count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN);
  }
}

std::string read_history(const std::string& file) {
  if (!is_file(file)) return {};
  const File opened = open_for_user_alone(file, O_RDWR | O_APPEND);
  if (!opened) return {};
  const off_t skipped = std::max<off_t>(::lseek(::fileno(opened.get()), 0, SEEK_END) - kMostBytes, 0);
  ::lseek(::fileno(opened.get()), skipped, SEEK_SET);
  std::string text = read_whole(::fileno(opened.get()), 2 * kMostBytes).value_or("");
  std::size_t begin = text.size();
  for (int lines = 0; lines <= kMostLines && begin != 0 && begin != std::string::npos; ++lines)
    begin = text.rfind('\n', begin - 1);
  const bool has_all = begin == 0 || begin == std::string::npos;
  if (has_all && skipped == 0) return text;
  text.erase(0, (has_all ? text.find('\n') : begin) + 1);
  replace_file(file, text);
  return text;
}

void add_to_history(const std::string& file, const std::string& line) {
  const std::filesystem::path path(file);
  std::error_code ignored;
  if (std::filesystem::create_directories(path.parent_path(), ignored))
    std::filesystem::permissions(path.parent_path(), std::filesystem::perms::owner_all, ignored);
  const File opened = open_for_user_alone(file, O_RDWR | O_APPEND | O_CREAT);
  if (opened) std::fputs((line + '\n').c_str(), opened.get());
}

struct LineEditor::Library {
  std::string history_file;
  std::function<Woken(int)> wait;
  std::string prompt = {};
  Woken woken = Woken::readable;  ///< why there was no last key
  File in = {};
  File out = {};
  std::unique_ptr<EditLine, decltype(&::el_end)> editor{nullptr, ::el_end};
  std::unique_ptr<History, decltype(&::history_end)> history{nullptr, ::history_end};

  void start();
  void remember(const std::string& line);
  int next_key(wchar_t* key);

  static Library& of(EditLine* editor) {
    void* data = nullptr;
    ::el_get(editor, EL_CLIENTDATA, &data);
    return *static_cast<Library*>(data);
  }
};

void LineEditor::Library::start() {
  editor.reset(::el_init("podrun", in.get(), out.get(), out.get()));
  history.reset(::history_init());
  if (!editor || !history) throw UsageError("the terminal cannot be used for a prompt");
  HistEvent event{};
  ::history(history.get(), &event, H_SETSIZE, kMostLines);
  ::history(history.get(), &event, H_SETUNIQUE, 1);
  const std::string earlier = read_history(history_file);
  for (const std::string_view line : split(earlier, '\n')) {
    if (!line.empty()) ::history(history.get(), &event, H_ENTER, std::string(line).c_str());
  }
  EditLine* const el = editor.get();
  ::el_set(el, EL_CLIENTDATA, this);
  ::el_set(el, EL_EDITOR, "emacs");
  ::el_set(el, EL_HIST, ::history, history.get());
  ::el_set(el, EL_PROMPT,
           static_cast<char* (*)(EditLine*)>([](EditLine* asked) { return of(asked).prompt.data(); }));
  ::el_set(el, EL_GETCFN,
           static_cast<el_rfunc_t>([](EditLine* asked, wchar_t* key) { return of(asked).next_key(key); }));
  for (const auto& [key, action] : kKeys) ::el_set(el, EL_BIND, key, action, nullptr);
  ::el_source(el, nullptr);  // the user's ~/.editrc
}

/// Returns, as editline(3) says, 1 for a key, 0 at the end of the input, -1 for an error, which ends
/// el_gets().
int LineEditor::Library::next_key(wchar_t* key) {
  std::mbstate_t state{};
  for (;;) {
    woken = wait(::fileno(in.get()));
    if (woken != Woken::readable) {
      errno = EINTR;
      return -1;
    }
    ::el_resize(editor.get());
    char byte = 0;
    const ssize_t count = ::read(::fileno(in.get()), &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return static_cast<int>(count);
    if (byte == '\0') continue;  // a Ctrl-D typed before the prompt
    const std::size_t used = std::mbrtowc(key, &byte, 1, &state);
    constexpr auto kBad = static_cast<std::size_t>(-1);
    constexpr auto kIncomplete = static_cast<std::size_t>(-2);
    if (used == kBad) {
      state = {};
    } else if (used != kIncomplete) {
      return 1;
    }
  }
}

/// Stores a line, unless it begins with a blank (as bash with ignorespace).
void LineEditor::Library::remember(const std::string& line) {
  if (line.empty() || line.front() == ' ' || line.front() == '\t') return;
  HistEvent event{};
  if (::history(history.get(), &event, H_FIRST) == 0 && line == event.str) return;
  ::history(history.get(), &event, H_ENTER, line.c_str());
  if (!history_file.empty()) add_to_history(history_file, line);
}

LineEditor::LineEditor(const std::string& history_file, Charset charset)
    : library_(std::make_unique<Library>()) {
  // libedit asks the C library for the widths and bytes of characters; podrun never does.
  if (charset == Charset::utf8) std::setlocale(LC_CTYPE, "C.UTF-8");
  library_->history_file = history_file;
  library_->wait = [this](int descriptor) { return wait_for_input(descriptor); };
  library_->in.reset(std::fopen("/dev/tty", "re"));
  library_->out.reset(std::fopen("/dev/tty", "we"));
  if (!library_->in || !library_->out) throw UsageError("there is no terminal for a prompt");
  library_->start();
}

LineEditor::~LineEditor() = default;

std::optional<std::string> LineEditor::read(const std::string& prompt) {
  library_->prompt = prompt;
  for (;;) {
    library_->woken = Woken::readable;
    int count = 0;
    // Before the prompt is shown: until then the terminal echoes keys, and takes Ctrl-D for itself.
    ::el_set(library_->editor.get(), EL_PREP_TERM, 1);
    const char* const line = ::el_gets(library_->editor.get(), &count);
    if (line && count > 0) {
      std::string text(line, static_cast<std::size_t>(count));
      while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
      library_->remember(text);
      return text;
    }
    const bool is_interrupted = library_->woken == Woken::interrupted;
    std::fputs(is_interrupted ? "^C\n" : "\n", library_->out.get());
    std::fflush(library_->out.get());
    if (!is_interrupted) return std::nullopt;
  }
}

}  // namespace podrun::output
