// SPDX-License-Identifier: Apache-2.0
// Recognizes the prefixes of common log formats: glog, absl, PyTorch, the kernel, NCCL, Python's logging,
// syslog.

#include <algorithm>

#include "podrun/output/log_key/log_fields.hpp"
#include "podrun/output/log_key/log_text.hpp"

namespace podrun::output {
namespace {

constexpr std::array<std::string_view, 9> kLevels = {"TRACE", "DEBUG", "INFO",  "NOTICE",  "WARNING",
                                                     "WARN",  "ERROR", "FATAL", "CRITICAL"};

/// A number with fewer digits may be a step or a rank.
constexpr std::size_t kLeastOfPid = 3;

/// The size in bytes of the log level, a whole word, at the start of the text.
std::size_t level_size(std::string_view text) {
  for (const std::string_view level : kLevels) {
    if (!text.starts_with(level)) continue;
    if (text.size() == level.size() || !is_word(text[level.size()])) return level.size();
  }
  return 0;
}

/// Whether the number after this word is not a pid: `step[100]: `.
bool counts_steps(std::string_view word) {
  constexpr std::array<std::string_view, 14> kWords = {"step",   "epoch",  "iter", "iteration", "batch",
                                                       "rank",   "worker", "host", "node",      "gpu",
                                                       "device", "shard",  "loss", "default"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

/// `NCCL INFO`, `init.cc:56 NCCL WARN`
bool begins_with_nccl(std::string_view text) {
  if (text.starts_with("NCCL ")) return true;
  const std::size_t place = std::min(text.find(' '), text.size());
  return place != 0 && text.substr(place).starts_with(" NCCL WARN");
}

/// ` file.cc:56]`
bool begins_with_place(std::string_view text) {
  if (!text.starts_with(' ')) return false;
  const std::size_t end = text.find_first_of(" ]", 1);
  if (end == text.npos || text[end] != ']') return false;
  const std::size_t colon = text.substr(0, end).rfind(':');
  return colon != text.npos && colon > 1 && colon + 1 < end &&
         digits_size(text.substr(colon + 1)) == end - colon - 1;
}

/// The size in bytes of `1121 13:00:01.123456`. PyTorch writes the month with one digit, and a year may come
/// first. Before absl is initialised the time is `00:00:` and the seconds since the epoch.
std::size_t glog_time_size(std::string_view text) {
  const std::size_t day = digits_size(text);
  if ((day != 3 && day != 4 && day != 8) || !text.substr(day).starts_with(' ')) return 0;
  const std::string_view clock = text.substr(day + 1);
  if (begins_like(clock, "00:00:9999999999.")) return day + 18 + digits_size(clock.substr(17));
  const std::size_t size = clock_size(clock);
  return size == 0 ? 0 : day + 1 + size;
}

bool is_name_byte(char c) { return is_word(c) || c == '-' || c == '.'; }

class PrefixReader {
 public:
  PrefixReader(std::string_view line, const OwnNames& own) : line_(line), own_(own) {}

  PrefixFields read() {
    const bool rfc5424 = skip_tags();
    if (glog() || kernel()) return fields_;
    if (rfc5424) {
      if (time()) rfc5424_process();
      return fields_;
    }
    // Time, level and process, in any order.
    while (!nccl() && (time() || level() || process() || syslog_process())) {
      skip_separator();
      skip_tags();
    }
    return fields_;
  }

 private:
  std::string_view rest() const { return line_.substr(at_); }

  void add(std::size_t begin, std::size_t end, LogField::Kind kind) {
    fields_.fields[fields_.count++] = {begin, end, kind};
    at_ = end;
  }

  bool skip_tags();
  void skip_separator();
  bool glog();
  bool kernel();
  bool time();
  bool level();
  bool nccl();
  std::size_t number_in_name(std::size_t begin, std::size_t end) const;
  bool process();
  bool bare_process();
  bool bracketed_process();
  void thread();
  bool named_process();
  bool syslog_process();
  void rfc5424_process();

  std::string_view line_;
  const OwnNames& own_;
  std::size_t at_ = 0;  ///< the end of the part that was read
  PrefixFields fields_;
  bool has_time_ = false;
  bool has_level_ = false;
  bool has_process_ = false;
};

/// Skips colours, `[rank3]:` of PyTorch, `[default0]:` of torchrun, `<13>` of syslog. True after `<13>1 ` of
/// RFC 5424.
bool PrefixReader::skip_tags() {
  for (;;) {
    const std::string_view text = rest();
    if (const std::size_t size = color_size(text)) {
      at_ += size;
    } else if (text.starts_with('[')) {
      const std::size_t letters = first_not(text.substr(1), is_letter);
      const std::size_t end = 1 + letters + digits_size(text.substr(1 + letters));
      if (letters == 0 || end == 1 + letters || !text.substr(end).starts_with("]:")) return false;
      at_ += end + 2 + blanks_size(text.substr(end + 2));
    } else if (text.starts_with('<')) {
      const std::size_t end = 1 + digits_size(text.substr(1));
      if (end == 1 || !text.substr(end).starts_with('>')) return false;
      const bool rfc5424 = text.substr(end + 1).starts_with("1 ");
      at_ += end + (rfc5424 ? 3 : 1);
      return rfc5424;
    } else {
      return false;
    }
  }
}

/// `I1121 13:00:01.123456  1234 file.cc:56]`, perhaps in a bracket or without the thread.
bool PrefixReader::glog() {
  const std::size_t severity = at_ + (rest().starts_with('[') ? 1 : 0);
  constexpr std::string_view kSeverities = "IWEFVDC";
  if (severity >= line_.size() || kSeverities.find(line_[severity]) == kSeverities.npos) return false;
  const std::size_t time = severity + 1 + glog_time_size(line_.substr(severity + 1));
  if (time == severity + 1) return false;
  const std::size_t blanks = blanks_size(line_.substr(time));
  const std::size_t digits = digits_size(line_.substr(time + blanks));
  const std::size_t process = time + blanks + digits;
  const bool has_process = blanks != 0 && digits != 0 && begins_with_place(line_.substr(process));
  if (!has_process && !begins_with_place(line_.substr(time))) return false;
  add(severity + 1, time, LogField::time);
  if (has_process) add(time, process, LogField::process);  // includes the blanks, which pad a short number
  return true;
}

/// `[   12.345678] `: the kernel pads its seconds to at least five characters.
bool PrefixReader::kernel() {
  if (!rest().starts_with('[')) return false;
  const std::string_view text = rest().substr(1);
  const std::size_t blanks = blanks_size(text);
  const std::size_t point = blanks + digits_size(text.substr(blanks));
  if (point == blanks || (blanks == 0 ? point < 5 : point != 5)) return false;
  if (!begins_like(text.substr(point), ".999999] ")) return false;
  add(at_ + 1, at_ + 1 + point + 7, LogField::time);
  return true;
}

/// The text between two parts: ` `, ` - `, ` | `, `: `, with colours.
void PrefixReader::skip_separator() {
  for (std::size_t color = 1; color != 0; at_ += color) {
    at_ = std::min(line_.find_first_not_of(" -|:", at_), line_.size());
    color = color_size(rest());
  }
}

/// `INFO`, `[INFO]`, `INFO:`
bool PrefixReader::level() {
  if (has_level_) return false;
  const std::size_t bracket = rest().starts_with('[') ? 1 : 0;
  const std::size_t size = level_size(rest().substr(bracket));
  const std::string_view after = rest().substr(std::min(bracket + size, rest().size()));
  constexpr std::string_view kEnds = " :|\x1b";
  if (size == 0 || after.empty() || (bracket != 0 ? after[0] != ']' : kEnds.find(after[0]) == kEnds.npos))
    return false;
  at_ += size + 2 * bracket;
  return has_level_ = true;
}

/// A time, perhaps in a bracket.
bool PrefixReader::time() {
  if (has_time_) return false;
  const std::size_t begin = at_ + (rest().starts_with('[') || rest().starts_with('(') ? 1 : 0);
  const std::string_view text = line_.substr(begin);
  std::size_t size = datetime_size(text);
  if (size == 0) size = line_start_time_size(text);
  if (size == 0) return false;
  add(begin, begin + size, LogField::time);
  if (begins_like(rest(), " +9999]")) at_ += 6;
  if (rest().starts_with(']') || rest().starts_with(')')) ++at_;
  return has_time_ = true;
}

/// The position of the `:` before a number at the end of the name; 0: none.
std::size_t PrefixReader::number_in_name(std::size_t begin, std::size_t end) const {
  std::size_t colon = end;
  while (colon > begin && is_digit(line_[colon - 1])) --colon;
  return colon < end && colon > begin + 1 && line_[colon - 1] == ':' ? colon - 1 : 0;
}

/// `tpu-3:1234:5678 [0] NCCL INFO`, `tpu-3:1234:5678 [0] init.cc:56 NCCL WARN`: the process names its host,
/// pid and thread.
bool PrefixReader::nccl() {
  const std::size_t host = at_ + blanks_size(rest());
  const std::size_t end = line_.find(' ', host);
  if (end == line_.npos || !line_.substr(end).starts_with(" [")) return false;
  const std::size_t device = end + 2 + digits_size(line_.substr(end + 2));
  if (device == end + 2 || !line_.substr(device).starts_with("] ")) return false;
  const std::size_t thread = number_in_name(host, end);
  const std::size_t process = thread == 0 ? 0 : number_in_name(host, thread);
  if (process == 0 || !begins_with_nccl(line_.substr(device + 2))) return false;
  const std::string_view name = line_.substr(host, process - host);
  if (first_not(name, is_name_byte) != name.size()) return false;
  add(host, process, LogField::name);
  add(process + 1, thread, LogField::process);
  add(thread + 1, end, LogField::process);
  return true;
}

/// A pid in the forms of Python's logging and of syslog.
bool PrefixReader::process() {
  if (has_process_) return false;
  return has_process_ = bracketed_process() || named_process() || bare_process();
}

/// `1234 INFO `, `1234 - INFO`; other numbers may be values.
bool PrefixReader::bare_process() {
  const std::size_t digits = digits_size(rest());
  const std::string_view after = rest().substr(digits);
  const bool dashed = after.starts_with(" - ");
  if (digits < (dashed && has_time_ ? 1 : kLeastOfPid) || !after.starts_with(' ')) return false;
  const std::string_view next = after.substr(dashed ? 3 : 1);
  const std::size_t level = level_size(next);
  if (level == 0 || !next.substr(level).starts_with(' ')) return false;
  add(at_, at_ + digits, LogField::process);
  return true;
}

/// `[1234]` before or after a time or a level; alone it may be a step.
bool PrefixReader::bracketed_process() {
  if (!rest().starts_with('[')) return false;
  const std::size_t digits = digits_size(rest().substr(1));
  const std::size_t end = at_ + 1 + digits;
  if (digits == 0 || !line_.substr(end).starts_with("] ")) return false;
  PrefixReader after(line_.substr(end + 2), own_);
  after.skip_tags();
  const std::string_view next = after.rest().substr(after.rest().starts_with('[') ? 1 : 0);
  const std::size_t level = level_size(next);
  const bool level_follows = level != 0 && next.size() > level;
  if (digits < (has_time_ && level_follows ? 1 : kLeastOfPid)) return false;
  if (!has_time_ && !has_level_ && !level_follows && datetime_size(next) == 0) return false;
  add(at_ + 1, end, LogField::process);
  ++at_;
  thread();
  return true;
}

/// ` [139812345678912]` after the process.
void PrefixReader::thread() {
  if (!rest().starts_with(" [")) return;
  const std::size_t begin = at_ + 2;
  const std::size_t digits = digits_size(line_.substr(begin));
  if (digits <= 4 || !line_.substr(begin + digits).starts_with(']')) return;
  add(begin, begin + digits, LogField::process);
  ++at_;
}

/// `trainer[915]: `
bool PrefixReader::named_process() {
  if (rest().empty() || !is_letter(rest()[0])) return false;
  const std::size_t name = first_not(rest(), is_name_byte);
  if (!rest().substr(name).starts_with('[') || counts_steps(rest().substr(0, name))) return false;
  const std::size_t begin = at_ + name + 1;
  const std::size_t digits = digits_size(line_.substr(begin));
  if (digits < kLeastOfPid || !line_.substr(begin + digits).starts_with("]: ")) return false;
  add(begin, begin + digits, LogField::process);
  ++at_;
  return true;
}

/// `tpu-3 sshd[1234]: ` after a time in syslog's form. The name need not be one that podrun knows, but then a
/// short number could be a part of a message.
bool PrefixReader::syslog_process() {
  if (has_process_ || !has_time_ || has_level_) return false;
  const LogField& time = fields_.fields[fields_.count - 1];
  const std::string_view text = line_.substr(time.begin, time.end - time.begin);
  const bool is_own = !own_.first_of(line_.substr(0, at_), rest()).empty();
  if (!is_own && !is_letter(text[0]) && text.find('T') == text.npos) return false;
  const std::size_t space = at_ + first_not(rest(), is_name_byte);
  if (space == at_ || !line_.substr(space).starts_with(' ')) return false;
  const std::size_t bracket =
      space + 1 + first_not(line_.substr(space + 1), [](char c) { return c != ' ' && c != '['; });
  if (bracket == space + 1 || !line_.substr(bracket).starts_with('[')) return false;
  if (counts_steps(line_.substr(space + 1, bracket - space - 1))) return false;
  const std::size_t end = bracket + 1 + digits_size(line_.substr(bracket + 1));
  if (end - bracket - 1 < (is_own ? 1 : kLeastOfPid) || !line_.substr(end).starts_with("]:")) return false;
  add(at_, space, LogField::name);
  add(bracket + 1, end, LogField::process);
  ++at_;
  return has_process_ = true;
}

/// ` tpu-3 app 1234 `
void PrefixReader::rfc5424_process() {
  const std::size_t app = line_.find(' ', at_ + 1);
  const std::size_t before = app == line_.npos ? app : line_.find(' ', app + 1);
  if (!rest().starts_with(' ') || before == line_.npos) return;
  const std::size_t end = before + 1 + digits_size(line_.substr(before + 1));
  if (end > before + 1 && line_.substr(end).starts_with(' ')) add(before + 1, end, LogField::process);
}

}  // namespace

PrefixFields prefix_fields(std::string_view line, const OwnNames& own) {
  return PrefixReader(line, own).read();
}

}  // namespace podrun::output
