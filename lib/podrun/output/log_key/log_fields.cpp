// SPDX-License-Identifier: Apache-2.0
// Finds fields in the middle of a log line that differ between hosts: pids, ranks, addresses, the host's
// names.
#include "podrun/output/log_key/log_fields.hpp"

#include <algorithm>

#include "podrun/output/log_key/log_text.hpp"

namespace podrun::output {
namespace {

struct RankWord {
  std::string_view text;
  LogField::Kind kind;
};

constexpr std::array kRankWords = {
    RankWord{"rank", LogField::rank},          RankWord{"global_rank", LogField::rank},
    RankWord{"node_rank", LogField::rank},     RankWord{"machine_rank", LogField::rank},
    RankWord{"process", LogField::rank},       RankWord{"process_id", LogField::rank},
    RankWord{"process_index", LogField::rank}, RankWord{"worker", LogField::worker},
    RankWord{"worker_id", LogField::worker},   RankWord{"worker_index", LogField::worker},
    RankWord{"host", LogField::worker},        RankWord{"host_id", LogField::worker},
    RankWord{"host_index", LogField::worker},
};

bool is_hex_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equals_lower(std::string_view text, std::string_view lower_case) {
  return std::equal(text.begin(), text.end(), lower_case.begin(), lower_case.end(),
                    [](char c, char want) { return lower(c) == want; });
}

/// The rank word that `text` begins with, as a whole word: before digits, a separator or the end.
const RankWord* find_rank_word(std::string_view text) {
  if (text.size() < 4) return nullptr;
  const char first = lower(text[0]);
  const char fourth = lower(text[3]);
  for (const RankWord& word : kRankWords) {
    if (word.text[0] != first || word.text[3] != fourth) continue;  // rejects most words
    if (!equals_lower(text.substr(0, word.text.size()), word.text)) continue;
    const std::string_view rest = text.substr(word.text.size());
    if (rest.empty() || is_digit(rest[0]) || !is_word(rest[0])) return &word;
  }
  return nullptr;
}

/// The last word of the text, without trailing blanks.
std::string_view last_word(std::string_view text) {
  while (text.ends_with(' ')) text.remove_suffix(1);
  std::size_t begin = text.size();
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  return text.substr(begin);
}

/// Whether the text before a short number marks it as an address: of a Python object, glog's stack traces,
/// XLA's services or NCCL's communicators.
bool says_address(std::string_view before) {
  const std::size_t last = before.find_last_not_of(' ');
  if (last == before.npos || !before.ends_with(' ')) return false;
  const std::string_view word = last_word(before);
  return before[last] == '@' || word == "at" || word == "service" || word == "comm";
}

/// `00:10`, `1:00:10`
std::size_t duration_size(std::string_view text) {
  std::size_t size = digits_size(text);
  if (size == 0 || !begins_like(text.substr(size), ":99")) return 0;
  size += 3;
  return begins_like(text.substr(size), ":99") ? size + 3 : size;
}

/// `4.50it/s`, `2.31s/it`, `?it/s`, `4.50 batches/s`
std::size_t rate_size(std::string_view text) {
  std::size_t size = std::min(text.find_first_not_of("0123456789.?"), text.size());
  if (size == 0) return 0;
  if (text.substr(size).starts_with(' ')) ++size;
  const std::string_view unit = text.substr(size, first_not(text.substr(size), is_letter));
  size += unit.size();
  if (unit.empty() || !text.substr(size).starts_with('/')) return 0;
  const std::string_view per = text.substr(size + 1, first_not(text.substr(size + 1), is_letter));
  if (per.empty() || (unit != "s" && per != "s")) return 0;
  return size + 1 + per.size();
}

/// The digits from `begin` on, as a whole number.
LogField whole_number(std::string_view text, std::size_t begin, LogField::Kind kind) {
  const std::size_t end = begin + digits_size(text.substr(begin));
  const bool goes_on =
      end < text.size() &&
      (is_word(text[end]) || (text[end] == '.' && end + 1 < text.size() && is_digit(text[end + 1])));
  return end == begin || goes_on ? LogField{} : LogField{begin, end, kind};
}

/// `pid=915`, `pid: 915`, `PID 915`
LogField pid_field(std::string_view text) {
  std::size_t begin = 3;
  if (text.substr(begin).starts_with('=') || text.substr(begin).starts_with(':')) ++begin;
  if (text.substr(begin).starts_with(' ')) ++begin;
  return begin == 3 ? LogField{} : whole_number(text, begin, LogField::process);
}

/// `ip=10.0.0.1` after `pid=915, ` in a parenthesis
LogField ray_address(std::string_view before, std::string_view text) {
  const std::size_t parenthesis = before.rfind('(');
  if (parenthesis == before.npos || before.find("pid=", parenthesis) == before.npos ||
      !before.ends_with(", "))
    return {};
  const std::size_t end = std::min(text.find_first_not_of("0123456789abcdef.:", 3), text.size());
  return end > 3 && text.substr(end).starts_with(')') ? LogField{3, end, LogField::ip} : LogField{};
}

/// The names that Python's multiprocessing gives: `MainProcess:915`, `SpawnProcess-1:915`,
/// `ForkPoolWorker-3:915`
LogField named_process(std::string_view text) {
  constexpr std::array<std::string_view, 5> kNames = {"MainProcess", "SpawnProcess-", "ForkProcess-",
                                                      "SpawnPoolWorker-", "ForkPoolWorker-"};
  for (const std::string_view name : kNames) {
    if (!text.starts_with(name)) continue;
    const std::size_t colon = name.size() + digits_size(text.substr(name.size()));
    return text.substr(colon).starts_with(':') ? whole_number(text, colon + 1, LogField::process)
                                               : LogField{};
  }
  return {};
}

/// A member of a line of JSON: `"pid": 915`, `"ts":1795336096.97`
LogField json_field(std::string_view text) {
  const std::size_t quote = text.find('"', 1);
  if (quote == text.npos || !text.substr(quote + 1).starts_with(':')) return {};
  const std::string_view name = text.substr(1, quote - 1);
  const std::size_t begin = quote + 2 + blanks_size(text.substr(quote + 2));
  if (name == "pid" || name == "process" || name == "thread" || name == "tid")
    return whole_number(text, begin, LogField::process);
  if (name != "ts" && name != "time" && name != "timestamp" && name != "@timestamp" && name != "created")
    return {};
  const std::size_t seconds = digits_size(text.substr(begin));
  if (seconds < 10) return {};  // since the epoch, in seconds or parts of them
  std::size_t end = begin + seconds;
  if (text.substr(end).starts_with('.')) end += 1 + digits_size(text.substr(end + 1));
  return {begin, end, LogField::time};
}

/// The size of the text between a rank word and its number: ` `, `=`, `: `, `": `, ` index: `; 0: other text.
std::size_t separator_size(std::string_view text) {
  std::size_t size = 0;
  for (const std::string_view more : {" index", " id"}) {
    if (text.starts_with(more)) size = more.size();
  }
  if (text.starts_with('"') || text.starts_with('\'')) size = 1;
  const std::size_t word = size;
  size += blanks_size(text.substr(size));
  if (text.substr(size).starts_with(':') || text.substr(size).starts_with('=')) {
    ++size;
    size += blanks_size(text.substr(size));
  }
  return size == word ? 0 : size;
}

/// Whether a rank may end before this text, so that it is not part of a fraction, a range, a list or an
/// amount.
bool ends_rank(std::string_view word, std::string_view rest) {
  if (rest.empty()) return true;
  if (is_word(rest[0]) || rest[0] == '%') return false;
  if (rest[0] == '/') return word != "process";  // as in `Process 3/64 files`
  constexpr std::string_view kJoins = ".,:-+";
  return kJoins.find(rest[0]) == kJoins.npos || rest.size() == 1 || !is_digit(rest[1]);
}

bool has_letter(std::string_view text) { return std::any_of(text.begin(), text.end(), is_letter); }

bool is_ipv6(std::string_view name) { return name.find(':') != name.npos; }

/// A dot and a domain may follow a short name, but not an address; a colon ends all but an IPv6 address.
bool goes_on_after(std::string_view name, std::string_view rest) {
  if (rest.empty()) return false;
  if (is_word(rest[0])) return true;
  if (rest.size() == 1) return false;
  const char next = rest[1];
  if (rest[0] == '-') return is_word(next);
  if (rest[0] == '.') return is_digit(next) || (is_ip_address(name) && is_word(next));
  return rest[0] == ':' && is_ipv6(name) && (is_word(next) || next == ':');
}

}  // namespace

std::size_t address_size(std::string_view before, std::string_view text) {
  if (!text.starts_with("0x")) return 0;
  const std::string_view digits = text.substr(2, first_not(text.substr(2), is_hex_digit));
  const std::size_t size = 2 + digits.size();
  if (digits.size() > 16 || (size < text.size() && is_word(text[size]))) return 0;
  const std::size_t zeros = std::min(digits.find_first_not_of('0'), digits.size());
  const std::size_t significant = digits.size() - zeros;
  // User space has 47 or 48 bits, the kernel the end of 64; codes have 32, hashes 64.
  const bool is_address = (significant >= 9 && significant <= 12) ||
                          (significant == 16 && digits.starts_with("ffff")) ||
                          (significant >= 6 && significant <= 8 && says_address(before));
  return is_address ? size : 0;
}

std::size_t progress_size(std::string_view before, std::string_view text) {
  std::size_t size = before.ends_with(" [") ? duration_size(text) : 0;
  if (size == 0) return 0;
  if (text.substr(size).starts_with('<')) {
    const std::string_view left = text.substr(size + 1);
    const std::size_t left_size = left.starts_with('?') ? 1 : duration_size(left);
    if (left_size == 0) return 0;
    size += 1 + left_size;
  }
  if (!text.substr(size).starts_with(", ")) return 0;
  ++size;
  size += blanks_size(text.substr(size));
  const std::size_t rate = rate_size(text.substr(size));
  const std::string_view rest = text.substr(size + rate);
  return rate != 0 && (rest.starts_with(']') || rest.starts_with(',')) ? size + rate : 0;
}

bool may_begin_process_word(char c) {
  constexpr std::string_view kFirst = "pP\"MSFi";
  return kFirst.find(c) != kFirst.npos;
}

LogField process_field(std::string_view before, std::string_view text) {
  if (!before.empty() && is_word(before.back())) return {};
  if (text.starts_with('"')) return json_field(text);
  if (text.starts_with("pid") || text.starts_with("PID")) return pid_field(text);
  if (text.starts_with("ip=")) return ray_address(before, text);
  return named_process(text);
}

bool may_begin_rank_word(char c) {
  return std::any_of(kRankWords.begin(), kRankWords.end(),
                     [&](const RankWord& word) { return word.text[0] == lower(c); });
}

LogField rank_number(std::string_view before, std::string_view text) {
  const RankWord* const word = find_rank_word(text);
  if (word == nullptr) return {};
  const bool local = equals_lower(last_word(before), "local");  // a number within one host
  if (local || is_joined(before)) return {};
  std::size_t begin = word->text.size();
  if (begin < text.size() && !is_digit(text[begin])) {
    const std::size_t separator = separator_size(text.substr(begin));
    if (separator == 0) return {};
    begin += separator;
  }
  const std::size_t end = begin + digits_size(text.substr(begin));
  if (end == begin || !ends_rank(word->text, text.substr(end))) return {};
  return {begin, end, word->kind};
}

OwnNames::OwnNames(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (is_ip_address(name)) {
      names_.push_back(name);
      continue;
    }
    for (const std::string& form : {name, name.substr(0, name.find('.'))}) {
      if (has_letter(form)) names_.push_back(form);
    }
  }
  std::sort(names_.begin(), names_.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
}

std::string_view OwnNames::first_of(std::string_view before, std::string_view text) const {
  for (const std::string& name : names_) {
    // The last byte rejects most words, without a function call.
    if (text.size() < name.size() || text[name.size() - 1] != name.back()) continue;
    if (!text.starts_with(name)) continue;
    const bool goes_on_before = is_joined(before) || (is_ipv6(name) && before.ends_with(':'));
    if (!goes_on_before && !goes_on_after(name, text.substr(name.size()))) return name;
  }
  return {};
}

bool is_ip_address(std::string_view name) {
  const bool ipv4 =
      name.find_first_not_of("0123456789.") == name.npos && std::count(name.begin(), name.end(), '.') == 3;
  return ipv4 || is_ipv6(name);
}

}  // namespace podrun::output
