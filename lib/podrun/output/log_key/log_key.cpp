// SPDX-License-Identifier: Apache-2.0
// Makes the key by which `--dedup=log` compares lines: the line without its timestamps, pids, addresses
// and own names.
#include "podrun/output/log_key/log_key.hpp"

#include "podrun/output/log_key/log_text.hpp"

namespace podrun::output {
namespace {

// Classes of bytes for the scan: part of a word, the first byte of a possible field, the first byte of a
// colour.
constexpr std::uint8_t kWord = 1;
constexpr std::uint8_t kDigit = 2;
constexpr std::uint8_t kRank = 4;
constexpr std::uint8_t kName = 8;
constexpr std::uint8_t kEscape = 16;
constexpr std::uint8_t kProcess = 32;

/// Whether a number may be one of a few fields: an address, a rate of a progress bar, a date.
bool may_be_field(std::string_view before, std::string_view text) {
  if (text.size() < 8) return false;
  return text[1] == 'x' || text[2] == '/' || text[4] == '-' || text[4] == '/' || before.ends_with('[');
}

/// Whether the message has begun: `resume from ` is not a prefix, but `INFO `, `[rank0] ` and `ts=` may be.
bool has_plain_word(std::string_view before) {
  for (std::size_t blank; (blank = before.find(' ')) != before.npos; before.remove_prefix(blank + 1)) {
    if (blank > 1 && first_not(before.substr(0, blank), is_lower) == blank) return true;
  }
  return false;
}

/// Whether a time stands alone at the end of the line, `… [2026-11-21 13:00:01]`, and is not a part of the
/// message: `resume from 2026-11-21 13:00:01`.
bool ends_line(std::string_view before, std::string_view after) {
  return (before.ends_with(" [") && after == "]") || (before.ends_with(" (") && after == ")") ||
         (before.ends_with("  ") && after.empty()) || (before.ends_with("| ") && after.empty()) ||
         (before.ends_with(" - ") && after.empty());
}

std::vector<std::string> names_of(const hosts::Host& host, std::vector<std::string> also) {
  if (host.name != "local")
    also.push_back(host.name);  // "local" is an ordinary word in logs; `local3` is not
  return also;
}

}  // namespace

/// One pass over one line.
class LogKey::Scan {
 public:
  Scan(const LogKey& host, std::string_view line, std::string& out) : host_(host), line_(line), out_(out) {}

  std::string_view run() {
    const PrefixFields prefix = prefix_fields(line_, host_.own_);
    for (std::size_t i = 0; i < prefix.count; ++i) {
      const LogField& field = prefix.fields[i];
      scan_to(field.begin);
      if (at_ == field.begin) fold(field.end - field.begin, field.kind);
    }
    scan_to(line_.size());
    if (folded_ == 0) return line_;
    out_.append(line_, folded_);
    return out_;
  }

 private:
  void scan_to(std::size_t limit);
  void look(unsigned char_class);
  void look_at_number(std::string_view before, std::string_view text);
  void look_at_rank(std::string_view before, std::string_view text);

  /// Replaces `size` bytes as a field.
  void fold(std::size_t size, LogField::Kind kind) {
    if (folded_ == 0) out_.clear();
    out_.append(line_, folded_, at_ - folded_);
    out_ += '\n';
    out_ += static_cast<char>(kind);
    folded_ = at_ += size;
  }

  const LogKey& host_;
  std::string_view line_;
  std::string& out_;
  std::size_t at_ = 0;      ///< the end of the part that was read
  std::size_t folded_ = 0;  ///< the end of the part that is in `out_`
};

/// Most words are not fields, so the test for them must be cheap.
void LogKey::Scan::scan_to(std::size_t limit) {
  const auto class_of = [line = line_.data(), classes = host_.classes_.data()](std::size_t at) -> unsigned {
    return classes[static_cast<unsigned char>(line[at])];
  };
  std::size_t at = at_;
  while (at < limit) {
    const unsigned c = class_of(at);
    if (c > kWord) {
      at_ = at;
      look(c);
      if (at_ != at) {
        at = at_;
        continue;
      }
    }
    ++at;
    if ((c & kWord) == 0) continue;
    while (at < limit && (class_of(at) & kWord) != 0) ++at;
  }
  at_ = at;
}

void LogKey::Scan::look(unsigned char_class) {
  const std::string_view before(line_.data(), at_);
  const std::string_view text(line_.data() + at_, line_.size() - at_);
  if ((char_class & kName) != 0) {
    const std::string_view name = host_.own_.first_of(before, text);
    if (!name.empty()) return fold(name.size(), is_ip_address(name) ? LogField::ip : LogField::name);
  }
  if ((char_class & kProcess) != 0) {
    const LogField field = process_field(before, text);
    if (field.end != 0) {
      at_ += field.begin;
      return fold(field.end - field.begin, field.kind);
    }
  }
  if ((char_class & kDigit) != 0) {
    if (may_be_field(before, text)) look_at_number(before, text);
  } else if ((char_class & kRank) != 0) {
    look_at_rank(before, text);
  } else if ((char_class & kEscape) != 0) {
    at_ += color_size(text);
  }
}

void LogKey::Scan::look_at_number(std::string_view before, std::string_view text) {
  if (const std::size_t address = address_size(before, text)) {
    fold(address, LogField::address);
  } else if (const std::size_t progress = progress_size(before, text)) {
    fold(progress, LogField::progress);
  } else if (!before.ends_with('/') && !is_joined(before)) {  // not part of a path or a name
    const std::size_t time = datetime_size(text);
    if (time != 0 && (!has_plain_word(before) || ends_line(before, text.substr(time))))
      fold(time, LogField::time);
  }
}

void LogKey::Scan::look_at_rank(std::string_view before, std::string_view text) {
  LogField number = rank_number(before, text);
  const std::string_view digits = text.substr(number.begin, number.end - number.begin);
  const bool is_rank = digits == host_.rank_;
  const bool is_worker = digits == host_.worker_;
  if (!is_rank && !is_worker) return;
  // A word for machines means the worker number first, other words the rank. They differ when only some hosts
  // run.
  if (!is_worker) number.kind = LogField::rank;
  if (!is_rank) number.kind = LogField::worker;
  at_ += number.begin;
  fold(digits.size(), number.kind);
}

LogKey::LogKey(const hosts::Host& host, std::size_t rank, const std::vector<std::string>& also)
    : own_(names_of(host, also)), rank_(std::to_string(rank)), worker_(std::to_string(host.worker)) {
  for (std::size_t byte = 0; byte < classes_.size(); ++byte) {
    const char c = static_cast<char>(byte);
    if (is_word(c)) classes_[byte] |= kWord;
    if (is_digit(c)) classes_[byte] |= kDigit;
    if (may_begin_rank_word(c)) classes_[byte] |= kRank;
    if (may_begin_process_word(c)) classes_[byte] |= kProcess;
    if (c == '\x1b') classes_[byte] |= kEscape;
  }
  for (const std::string& name : own_.all()) classes_[static_cast<unsigned char>(name[0])] |= kName;
}

std::string_view LogKey::key(std::string_view line, std::string& buffer) const {
  return Scan(*this, line, buffer).run();
}

}  // namespace podrun::output
