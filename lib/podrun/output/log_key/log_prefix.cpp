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

/// `915 INFO `
bool is_process_and_level(std::string_view text) {
  const std::size_t digits = digits_size(text);
  if (digits < kLeastOfPid || !text.substr(digits).starts_with(' ')) return false;
  const std::string_view after = text.substr(digits + 1);
  const std::size_t level = level_size(after);
  return level != 0 && after.substr(level).starts_with(' ');
}

/// `[INFO]`, or after a thread, `[MainThread] INFO`. A level alone could begin a message.
bool begins_with_level_in_brackets(std::string_view text) {
  if (!text.starts_with('[')) return false;
  text.remove_prefix(1);
  if (level_size(text) != 0) return true;
  const std::size_t end = text.find_first_of(" ]");
  if (end == text.npos || !text.substr(end).starts_with("] ")) return false;
  text.remove_prefix(end + 2);
  return level_size(text.starts_with('[') ? text.substr(1) : text) != 0;
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

class PrefixReader {
 public:
  PrefixReader(std::string_view line, const OwnNames& own) : line_(line), own_(own) {}

  PrefixFields read() {
    const bool rfc5424 = skip_tags();
    if (glog() || kernel() || process_first()) return fields_;
    const bool has_time = time();
    if (nccl() || !has_time) return fields_;
    if (rfc5424) {
      rfc5424_process();
    } else if (!python_process()) {
      syslog_process();
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
  bool glog();
  bool kernel();
  bool process_first();
  bool time();
  bool nccl();
  std::size_t number_in_name(std::size_t begin, std::size_t end) const;
  bool python_process();
  void syslog_process();
  void rfc5424_process();

  std::string_view line_;
  const OwnNames& own_;
  std::size_t at_ = 0;  ///< the end of the part that was read
  PrefixFields fields_;
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

/// `INFO [915] train.py:42`, `[915] INFO`, `915 INFO`, `trainer[915]:`, all at the start of the line.
bool PrefixReader::process_first() {
  const std::size_t level = level_size(rest());
  std::size_t begin = at_;
  std::string_view end;
  if (level != 0 && rest().substr(level).starts_with(" [")) {
    begin += level + 2;
    end = "] ";
  } else if (rest().starts_with('[')) {
    ++begin;
    end = "] ";
  } else if (!rest().empty() && is_letter(rest()[0])) {
    begin += first_not(rest(), [](char c) { return is_word(c) || c == '-' || c == '.'; });
    if (!line_.substr(begin).starts_with('[') || counts_steps(line_.substr(at_, begin - at_))) return false;
    ++begin;
    end = "]: ";
  } else {
    end = " ";
  }
  const std::size_t digits = digits_size(line_.substr(begin));
  if (digits < kLeastOfPid || !line_.substr(begin + digits).starts_with(end)) return false;
  const std::string_view after = line_.substr(begin + digits + end.size());
  const std::size_t next = level_size(after);
  const bool level_follows = next != 0 && after.substr(next).starts_with(' ');
  if (level == 0 && end != "]: " && !level_follows) return false;
  add(begin, begin + digits, LogField::process);
  return true;
}

/// A time, perhaps in a bracket; `INFO 11-21 13:00:01` has its level first.
bool PrefixReader::time() {
  std::size_t begin = at_;
  const std::size_t blank = std::min(line_.find(' ', at_), line_.size());
  if (begins_like(line_.substr(blank), " 99-99 ") && blank > at_ && level_size(rest()) == blank - at_) {
    begin = blank + 1;
  } else if (rest().starts_with('[') || rest().starts_with('(')) {
    ++begin;
  }
  const std::string_view text = line_.substr(begin);
  std::size_t size = datetime_size(text);
  if (size == 0) size = line_start_time_size(text);
  if (size == 0) return false;
  add(begin, begin + size, LogField::time);
  if (begins_like(rest(), " +9999]")) at_ += 6;
  if (rest().starts_with(']') || rest().starts_with(')')) ++at_;
  return true;
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
  if (first_not(name, [](char c) { return is_word(c) || c == '-' || c == '.'; }) != name.size()) return false;
  add(host, process, LogField::name);
  add(process + 1, thread, LogField::process);
  add(thread + 1, end, LogField::process);
  return true;
}

/// ` [1234] [MainThread] INFO`, ` [1234] [139812345678912] [INFO]`, ` - 1234 - INFO`, ` 1234 INFO`
bool PrefixReader::python_process() {
  if (rest().starts_with(' ') && is_process_and_level(rest().substr(1))) {
    add(at_ + 1, at_ + 1 + digits_size(rest().substr(1)), LogField::process);
    return true;
  }
  const bool dashed = rest().starts_with(" - ");
  if (!dashed && !rest().starts_with(" [")) return false;
  const std::size_t begin = at_ + (dashed ? 3 : 2);
  const std::size_t end = begin + digits_size(line_.substr(begin));
  const std::string_view after = line_.substr(end);
  if (end == begin || !after.starts_with(dashed ? " - " : "] ")) return false;
  if (dashed ? level_size(after.substr(3)) == 0 : !begins_with_level_in_brackets(after.substr(2)))
    return false;
  add(begin, end, LogField::process);
  if (dashed) return true;
  const std::size_t thread = end + 3;
  const std::size_t digits = digits_size(line_.substr(thread));
  if (digits > 4 && line_.substr(thread + digits).starts_with(']'))
    add(thread, thread + digits, LogField::process);
  return true;
}

/// ` tpu-3 sshd[1234]:` after a time in syslog's form. Without the host's name it could be a message.
void PrefixReader::syslog_process() {
  const LogField& time = fields_.fields[0];
  const std::string_view text = line_.substr(time.begin, time.end - time.begin);
  const bool of_syslog = is_letter(text[0]) || text.find('T') != text.npos;
  const std::string_view name = rest().starts_with(' ')
                                    ? own_.first_of(line_.substr(0, at_ + 1), line_.substr(at_ + 1))
                                    : std::string_view();
  if (!of_syslog || name.empty()) return;
  const std::size_t space = at_ + 1 + name.size();
  const std::size_t bracket = std::min(line_.find_first_of(" [", space + 1), line_.size());
  if (line_.substr(space, 1) != " " || bracket == line_.size() || line_[bracket] != '[') return;
  const std::size_t end = bracket + 1 + digits_size(line_.substr(bracket + 1));
  if (end > bracket + 1 && line_.substr(end).starts_with("]:")) add(bracket + 1, end, LogField::process);
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
