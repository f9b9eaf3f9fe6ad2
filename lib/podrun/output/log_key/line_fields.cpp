// SPDX-License-Identifier: Apache-2.0
// Reads the prefix of a line part by part, and looks at each number and name in the rest.
#include "podrun/output/log_key/line_fields.hpp"

#include <algorithm>
#include <bit>

#include "podrun/output/log_key/log_text.hpp"

namespace podrun::output {
namespace {

constexpr std::uint8_t kDigit = 1;
constexpr std::uint8_t kName = 2;
constexpr std::uint8_t kEscape = 4;

constexpr std::size_t kLow = 8;  ///< a lower number may be that of a process within its host

std::size_t low_value(std::string_view number) {
  return number.size() == 1 ? static_cast<std::size_t>(number[0] - '0') : kLow;
}

}  // namespace

LineFields::LineFields(const hosts::Host& host, std::size_t rank, std::size_t hosts, bool numbers)
    : host_rank_(rank),
      rank_(std::to_string(rank)),
      next_rank_(std::to_string(rank + 1)),
      worker_(std::to_string(host.worker)),
      hosts_(std::to_string(hosts)),
      numbers_(numbers) {
  for (char digit = '0'; digit <= '9'; ++digit) classes_[static_cast<unsigned char>(digit)] = kDigit;
  classes_['\x1b'] = kEscape;
  if (host.name != "local") add_names({host.name});  // an ordinary word in logs; `local3` is not
}

void LineFields::add_names(const std::vector<std::string>& names) {
  own_.add(names);
  for (const std::string& name : own_.all()) classes_[static_cast<unsigned char>(name[0])] |= kName;
  prefix_form_.clear();
}

const std::vector<LogField>& LineFields::read(std::string_view line) {
  line_ = line;
  shapes_ = &log_shapes();
  at_ = message_ = 0;
  fields_.clear();
  read_prefix(Row::none);
  for (const LogField& field : prefix_) {
    scan_to(field.begin);
    if (at_ > field.begin) continue;
    fields_.push_back(field);
    at_ = field.end;
  }
  scan_to(line.size());
  if (!ranks_.empty()) learn_ranks();
  return fields_;
}

bool LineFields::without_own(std::vector<LogField>& fields) const {
  const bool has_own =
      std::any_of(fields_.begin(), fields_.end(), [](const LogField& field) { return field.is_own(); });
  const auto is_plain = [&](const LogField& field) {
    return field.is_own() ||
           (!has_own && field.kind == LogField::process_rank && low_value(text(field)) < kLow);
  };
  if (std::none_of(fields_.begin(), fields_.end(), is_plain)) return false;
  std::size_t end = 0;  // of the last field
  for (const LogField& field : fields_) {
    if (!is_plain(field) && field.begin >= end) fields.push_back(field);
    if (!numbers_ || (field.kind != LogField::name && field.kind != LogField::ip)) continue;
    for (std::size_t at = field.begin; at < field.end; ++at) {
      if (!is_number(at)) continue;
      fields.push_back({at, end = number_end(line_, at), LogField::number});
      at = end;
    }
  }
  return true;
}

std::string_view LineFields::process_of(std::string_view line) {
  const std::string_view begin = line.substr(0, 128);
  const bool may_have_tag = begin.find(']') != begin.npos || begin.find(')') != begin.npos;
  if (!may_have_tag || (begin[0] == '[' && is_digit(begin[1]))) return {};
  line_ = line;
  shapes_ = &log_shapes();
  read_prefix(LogShapes::kTagsOnly);
  return process_;
}

void LineFields::read_prefix(unsigned given) {
  constexpr std::size_t kMostParts = 12;
  ranks_.clear();
  process_ = process_rank_ = {};
  const bool is_whole = given == Row::none;
  if (is_whole && has_prefix_form()) return;
  prefix_.clear();
  is_for_all_ = true;
  shapes_->match.decided_by = 0;
  std::size_t at = 0;
  for (std::size_t part = 0; part < kMostParts && read_part(at, given); ++part) at = separator_end(line_, at);
  const std::size_t decided_by = shapes_->match.decided_by;
  const bool is_form = is_whole && is_for_all_ && process_.empty() && decided_by <= line_.size() &&
                       std::ranges::all_of(prefix_, [](const LogField& field) {
                         return field.kind == LogField::time || field.kind == LogField::process;
                       });
  prefix_form_.assign(is_form ? line_.substr(0, decided_by) : "");
}

/// Whether the prefix has the fields of the one before: only digits within times and pids differ.
bool LineFields::has_prefix_form() const {
  if (prefix_form_.empty() || line_.size() < prefix_form_.size()) return false;
  const auto same = [&](std::size_t begin, std::size_t end) {
    return line_.substr(begin, end - begin) == std::string_view(prefix_form_).substr(begin, end - begin);
  };
  std::size_t at = 0;
  for (const LogField& field : prefix_) {
    if (!same(at, field.begin)) return false;
    for (at = field.begin; at < field.end; ++at) {
      if (line_[at] != prefix_form_[at] && !(is_digit(line_[at]) && is_digit(prefix_form_[at]))) return false;
    }
  }
  return same(at, prefix_form_.size());
}

/// Reads the part of a prefix that begins at `at`.
bool LineFields::read_part(std::size_t& at, unsigned& given) {
  Shapes& shapes = shapes_->prefix;
  ShapeMatch& match = shapes_->match;
  for (std::uint64_t rows = shapes.candidates(given, line_, at, match); rows != 0; rows &= rows - 1) {
    const auto index = static_cast<std::size_t>(std::countr_zero(rows));
    const Row& row = shapes.row(index);
    if (!shapes.match(index, line_, at, own_, match) || !settle(match)) continue;
    prefix_.insert(prefix_.end(), match.fields.begin(), match.fields.begin() + match.count);
    if (match.tag.end != 0) {
      const std::size_t begin =
          process_.empty() ? match.tag.begin : static_cast<std::size_t>(process_.data() - line_.data());
      process_ = line_.substr(begin, match.tag.end - begin);
    }
    if (given != LogShapes::kTagsOnly) given |= (row.gives & Row::rest) != 0 ? Row::all : row.gives;
    at = match.end;
    return true;
  }
  return false;
}

void LineFields::scan_to(std::size_t limit) {
  const auto class_of = [line = line_.data(), classes = classes_.data()](std::size_t at) {
    return classes[static_cast<unsigned char>(line[at])];
  };
  for (;;) {
    std::size_t at = at_;
    while (at + 4 <= limit && (class_of(at) | class_of(at + 1) | class_of(at + 2) | class_of(at + 3)) == 0)
      at += 4;
    while (at < limit && class_of(at) == 0) ++at;
    at_ = at;
    if (at_ >= limit) return;
    const std::uint8_t begins = class_of(at_);
    if ((begins & kName) != 0) {
      const std::string_view name = own_.find(line_, at_);
      if (!name.empty()) {
        fields_.push_back({at_, at_ + name.size(), is_ip_address(name) ? LogField::ip : LogField::name});
        at_ += name.size();
        continue;
      }
    }
    if ((begins & kDigit) != 0) {
      if (!look_at_number(limit)) {
        while (at_ < limit && is_digit(line_[at_])) ++at_;
      }
    } else {
      at_ += std::max<std::size_t>(begins == kEscape ? color_size(line_.substr(at_)) : 1, 1);
    }
  }
}

/// Whether the number is a field, or a number that counts in every mode: then the scan goes on after it.
bool LineFields::look_at_number(std::size_t limit) {
  if (at_ >= 2 && (line_[at_ - 1] == '.' || line_[at_ - 1] == ',') && is_digit(line_[at_ - 2])) return false;
  Shapes& shapes = shapes_->numbers;
  ShapeMatch& match = shapes_->match;
  for (std::uint64_t rows = shapes.candidates(numbers_ ? 1 : 0, line_, at_, match); rows != 0;
       rows &= rows - 1) {
    const auto index = static_cast<std::size_t>(std::countr_zero(rows));
    if (shapes.row(index).where == Row::early && has_message_before(at_)) continue;
    if (!shapes.match(index, line_, at_, own_, match)) continue;
    const std::size_t end = match.fields[match.count - 1].end;
    if (end > limit || !settle(match)) continue;
    for (std::size_t i = 0; i < match.count; ++i) {
      if (numbers_ && match.fields[i].kind == LogField::measure) {
        at_ = match.fields[i].begin;
        add_number();
      } else {
        fields_.push_back(match.fields[i]);
      }
    }
    at_ = std::max(at_, end);
    return true;
  }
  if (!numbers_ || !is_number(at_)) return false;
  add_number();
  return true;
}

/// Digits after a letter or `_` are part of a name.
bool LineFields::is_number(std::size_t at) const {
  return is_digit(line_[at]) && (at == 0 || !is_word(line_[at - 1]) || ends_color(line_.substr(0, at)));
}

void LineFields::add_number() {
  const std::size_t end = number_end(line_, at_);
  fields_.push_back({signed_begin(line_, at_), end, LogField::number});
  at_ = end;
}

/// Gives the fields of a match their kinds. False: the shape does not match for this host.
bool LineFields::settle(ShapeMatch& match) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < match.count; ++i) {
    LogField& field = match.fields[i];
    if (!settle(field, match)) return false;
    if (field.kind != LogField::kept) match.fields[kept++] = field;
  }
  match.count = kept;
  return true;
}

bool LineFields::settle(LogField& field, const ShapeMatch& match) {
  if (field.kind != LogField::time && field.kind != LogField::process) is_for_all_ = false;
  switch (field.kind) {
    case LogField::own_rank:
    case LogField::own_worker:
      return settle_rank(field, match);
    case LogField::next_rank:
      if (text(field) != next_rank_) return false;
      field.kind = LogField::rank;
      return true;
    case LogField::host_count:
      if (text(field) != hosts_) return false;
      field.kind = LogField::kept;
      return true;
    case LogField::process_rank:
      process_rank_ = text(field);
      if (is_local(process_rank_)) field.kind = LogField::kept;
      return true;
    default:
      return true;
  }
}

/// Whether the number in the tag of a process is one within its host, as of `torchrun --role rank --tee 3`:
/// the host has shown a low number that cannot be among its own ranks.
bool LineFields::is_local(std::string_view number) {
  const std::size_t value = low_value(number);
  if (value >= kLow) return false;
  const auto holds = [&](std::size_t processes) { return value / processes == host_rank_; };
  constexpr std::array<std::size_t, 6> kProcesses = {1, 2, 3, 4, 6, 8};  ///< of a host, usually
  tags_are_local_ = tags_are_local_ || std::none_of(kProcesses.begin(), kProcesses.end(), holds);
  return tags_are_local_;
}

/// Whether a plain word stands before: `resume from ` begins a message, but `INFO `, `[rank0] ` and `ts=` may
/// be a prefix.
bool LineFields::has_message_before(std::size_t at) {
  if (message_ == 0) {
    message_ = line_.npos;
    for (std::size_t begin = 0, blank; (blank = line_.find(' ', begin)) != line_.npos; begin = blank + 1) {
      const auto end = line_.begin() + static_cast<std::ptrdiff_t>(blank);
      if (blank < begin + 2 ||
          !std::all_of(line_.begin() + static_cast<std::ptrdiff_t>(begin), end, is_lower))
        continue;
      message_ = blank;
      break;
    }
  }
  return at > message_;
}

}  // namespace podrun::output
