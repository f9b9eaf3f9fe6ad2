// SPDX-License-Identifier: Apache-2.0
// A prompt with line editing by libedit. libedit's keys come through wait_for_input(), so that another thread
// can end the wait; its own signal handlers stay off. Pasted text arrives between two marks, which keep its
// newlines from ending the line.
#include "podrun/shell/line_editor.hpp"

#include <histedit.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cwchar>
#include <functional>
#include <string_view>
#include <utility>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/shell/history_file.hpp"

namespace podrun::shell {
namespace {

using Action = unsigned char (*)(EditLine*, wint_t);

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// Keys that libedit has no binding for, as xterm and its relatives send them.
constexpr std::array<std::array<const char*, 2>, 10> kKeys = {{
    {"^R", "em-inc-search-prev"},
    {"^W", "ed-delete-prev-word"},
    {"\\e[3~", "ed-delete-next-char"},
    {"\\e[H", "ed-move-to-beg"},
    {"\\e[F", "ed-move-to-end"},
    {"\\e[1;5C", "em-next-word"},
    {"\\e[1;5D", "ed-prev-word"},
    {"\\e[1~", "ed-move-to-beg"},
    {"\\e[200~", "podrun-paste"},
    {"^I", "podrun-complete"},
}};

// "Bracketed paste mode" of xterm and its relatives.
constexpr const char* kMarkPastes = "\x1b[?2004h";
constexpr const char* kMarkPastesNoMore = "\x1b[?2004l";
constexpr std::wstring_view kPasteEnd = L"\x1b[201~";

constexpr char kEndOfInput = '\x04';
constexpr char kNewlineInFile = '\v';  // an entry is one line of the history file

}  // namespace

struct LineEditor::Library {
  EditorPlan plan;
  std::function<Woken(int)> wait;
  std::string prompt = {};
  std::string keys = {};  ///< read ahead by read_waiting_keys()
  bool marks_pastes = false;
  Woken woken = Woken::readable;  ///< why there was no last key
  File in = {};
  File out = {};
  std::unique_ptr<EditLine, decltype(&::el_end)> editor{nullptr, ::el_end};
  std::unique_ptr<History, decltype(&::history_end)> history{nullptr, ::history_end};

  void start();
  void remember(const std::string& command);
  void set_pastes(const char* mode);
  void read_waiting_keys();
  int next_byte(char* byte);
  int next_key(wchar_t* key);
  unsigned char paste();
  unsigned char complete();

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
  ::history(history.get(), &event, H_SETSIZE, kMostHistoryEntries);
  ::history(history.get(), &event, H_SETUNIQUE, 1);
  std::string earlier = read_history(plan.history_file);
  for (const std::string_view line : split(earlier, '\n')) {
    std::string command(line);
    std::replace(command.begin(), command.end(), kNewlineInFile, '\n');
    if (!command.empty()) ::history(history.get(), &event, H_ENTER, command.c_str());
  }
  EditLine* const el = editor.get();
  ::el_set(el, EL_CLIENTDATA, this);
  ::el_set(el, EL_EDITOR, "emacs");
  ::el_set(el, EL_HIST, ::history, history.get());
  ::el_set(el, EL_PROMPT,
           static_cast<char* (*)(EditLine*)>([](EditLine* asked) { return of(asked).prompt.data(); }));
  ::el_set(el, EL_GETCFN,
           static_cast<el_rfunc_t>([](EditLine* asked, wchar_t* key) { return of(asked).next_key(key); }));
  ::el_wset(el, EL_ADDFN, L"podrun-paste", L"Insert pasted text",  // el_set would leak copies of the texts
            static_cast<Action>([](EditLine* asked, wint_t) { return of(asked).paste(); }));
  ::el_wset(el, EL_ADDFN, L"podrun-complete", L"Complete a command of podrun",
            static_cast<Action>([](EditLine* asked, wint_t) { return of(asked).complete(); }));
  for (const auto& [key, action] : kKeys) ::el_set(el, EL_BIND, key, action, nullptr);
  ::el_source(el, nullptr);  // the user's ~/.editrc
  const char* terminal = nullptr;
  marks_pastes =
      ::el_get(el, EL_TERMINAL, &terminal) == 0 && terminal && std::string_view(terminal) != "dumb";
}

void LineEditor::Library::set_pastes(const char* mode) {
  if (!marks_pastes) return;
  std::fputs(mode, out.get());
  std::fflush(out.get());
}

/// Takes what has arrived while the terminal had its own settings.
void LineEditor::Library::read_waiting_keys() {
  pollfd entry{::fileno(in.get()), POLLIN, 0};
  while (::poll(&entry, 1, 0) == 1) {
    std::array<char, 4096> buffer{};
    const ssize_t count = ::read(entry.fd, buffer.data(), buffer.size());
    if (count < 0) return;
    if (count == 0) keys += kEndOfInput;  // its own settings make an end of Ctrl-D
    keys.append(buffer.data(), static_cast<std::size_t>(count));
    if ((entry.revents & POLLHUP) != 0) return;
  }
}

int LineEditor::Library::next_byte(char* byte) {
  if (!keys.empty()) {
    *byte = keys.front();
    keys.erase(0, 1);
    return 1;
  }
  for (;;) {
    woken = wait(::fileno(in.get()));
    if (woken != Woken::readable) {
      errno = EINTR;
      return -1;
    }
    ::el_resize(editor.get());
    const ssize_t count = ::read(::fileno(in.get()), byte, 1);
    if (count >= 0 || errno != EINTR) return static_cast<int>(count);
  }
}

/// Returns, as editline(3) says, 1 for a key, 0 at the end of the input, -1 for an error, which ends
/// el_gets().
int LineEditor::Library::next_key(wchar_t* key) {
  std::mbstate_t state{};
  for (;;) {
    char byte = 0;
    const int count = next_byte(&byte);
    if (count <= 0) return count;
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

/// Inserts pasted text, whose newlines do not end the line. Those at its end are dropped.
unsigned char LineEditor::Library::paste() {
  std::wstring text;
  wchar_t key = 0;
  while (!text.ends_with(kPasteEnd)) {
    if (next_key(&key) <= 0) return CC_EOF;
    text += key == L'\r' ? L'\n' : key;
  }
  text.resize(text.size() - kPasteEnd.size());
  while (text.ends_with(L'\n')) text.pop_back();
  ::el_winsertstr(editor.get(), text.c_str());
  return CC_REFRESH;
}

/// Completes a first word; elsewhere says once why nothing is completed.
unsigned char LineEditor::Library::complete() {
  const LineInfo* const line = ::el_line(editor.get());
  const std::string_view typed(line->buffer, static_cast<std::size_t>(line->cursor - line->buffer));
  const auto fits = [typed](const std::string& word) { return !typed.empty() && word.starts_with(typed); };
  const auto& words = plan.completions;
  if (std::count_if(words.begin(), words.end(), fits) == 1) {
    const std::string& word = *std::find_if(words.begin(), words.end(), fits);
    ::el_insertstr(editor.get(), (word.substr(typed.size()) + ' ').c_str());
    return CC_REFRESH;
  }
  read_waiting_keys();
  if (!keys.empty()) {  // a Tab in a paste
    ::el_insertstr(editor.get(), "\t");
    return CC_REFRESH;
  }
  const std::string why = std::exchange(plan.no_completion, {});
  if (why.empty()) return CC_ERROR;
  std::fputs(("\n" + why + "\n").c_str(), out.get());
  return CC_REDISPLAY;
}

/// Stores a command, unless it begins with a blank (as bash with ignorespace).
void LineEditor::Library::remember(const std::string& command) {
  if (command.empty() || command.front() == ' ' || command.front() == '\t') return;
  HistEvent event{};
  if (::history(history.get(), &event, H_FIRST) == 0 && command == event.str) return;
  ::history(history.get(), &event, H_ENTER, command.c_str());
  std::string entry = command;
  std::replace(entry.begin(), entry.end(), '\n', kNewlineInFile);
  if (!plan.history_file.empty()) add_to_history(plan.history_file, entry);
}

LineEditor::LineEditor(EditorPlan plan, output::Charset charset) : library_(std::make_unique<Library>()) {
  // libedit asks the C library for the widths and bytes of characters; podrun never does.
  if (charset == output::Charset::utf8) std::setlocale(LC_CTYPE, "C.UTF-8");
  library_->plan = std::move(plan);
  library_->wait = [this](int descriptor) { return wait_for_input(descriptor); };
  library_->in.reset(std::fopen("/dev/tty", "re"));
  library_->out.reset(std::fopen("/dev/tty", "we"));
  if (!library_->in || !library_->out) throw UsageError("there is no terminal for a prompt");
  library_->start();
}

LineEditor::~LineEditor() = default;

ReadLine LineEditor::read(const std::string& prompt) {
  library_->prompt = prompt;
  library_->woken = Woken::readable;
  int count = 0;
  // Before the prompt is shown: until then the terminal echoes keys, and takes Ctrl-D for itself.
  ::el_set(library_->editor.get(), EL_PREP_TERM, 1);
  library_->set_pastes(kMarkPastes);
  const char* const line = ::el_gets(library_->editor.get(), &count);
  library_->set_pastes(kMarkPastesNoMore);
  if (line && count > 0) {
    std::string text(line, static_cast<std::size_t>(count));
    while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
    return {ReadLine::Kind::text, std::move(text)};
  }
  library_->keys.clear();
  const bool is_interrupted = library_->woken == Woken::interrupted;
  std::fputs(is_interrupted ? "^C\n" : "\n", library_->out.get());
  std::fflush(library_->out.get());
  return {is_interrupted ? ReadLine::Kind::interrupted : ReadLine::Kind::ended, {}};
}

bool LineEditor::has_waiting_line() {
  library_->read_waiting_keys();
  return library_->keys.find_first_of("\r\n") != std::string::npos;
}

void LineEditor::remember(const std::string& command) { library_->remember(command); }

}  // namespace podrun::shell
