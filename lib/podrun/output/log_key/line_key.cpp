// SPDX-License-Identifier: Apache-2.0
// The keys of a line: what counts when `--dedup` compares lines of several hosts.
#include "podrun/output/log_key/line_key.hpp"

#include <algorithm>
#include <optional>

namespace podrun::output {
namespace {

std::optional<Regex::Match> first_match(const std::vector<Regex>& regexes, std::string_view line,
                                        std::size_t at) {
  std::optional<Regex::Match> first;
  for (const Regex& regex : regexes) {
    const auto match = regex.find(line, at);
    if (match && (!first || match->begin < first->begin)) first = match;
  }
  return first;
}

}  // namespace

LineKey::LineKey(const hosts::Host& host, std::size_t rank, const SameLines& comparison, std::size_t hosts)
    : comparison_(comparison), fields_(host, rank, hosts, comparison.same == Same::numbers) {}

LineKeys LineKey::keys(std::string_view line) {
  LineKeys keys;
  if (comparison_.same == Same::bytes && comparison_.ignored.empty()) {
    keys.key = keys.plain_key = line;
    return keys;
  }
  if (comparison_.same != Same::bytes) {
    keys.fields = fields_.read(line);
    keys.process = fields_.process();
  }
  plain_.clear();
  const bool differ = !keys.fields.empty() && fields_.without_own(plain_);
  keys.fields = with_ignored(line, keys.fields, folded_);
  keys.key = without(line, keys.fields, key_);
  keys.plain_fields = differ ? with_ignored(line, plain_, plain_) : keys.fields;
  keys.plain_key = differ ? without(line, keys.plain_fields, plain_key_) : keys.key;
  return keys;
}

std::string_view LineKey::log_key(std::string_view line) {
  return without(line, with_ignored(line, fields_.read(line), folded_), key_);
}

/// The line without these fields.
std::string_view LineKey::without(std::string_view line, std::span<const LogField> fields, std::string& out) {
  if (fields.empty()) return line;
  out.clear();
  std::size_t at = 0;
  for (const LogField& field : fields) {
    out.append(line, at, field.begin - at);
    if (field.is_measure()) out.erase(out.find_last_not_of(' ') + 1);  // they align it
    out += '\n';
    out += field.kind;
    at = field.end;
  }
  out.append(line, at);
  return out;
}

/// A field that holds what is ignored stays; other fields that overlap it become a part of it.
std::span<const LogField> LineKey::with_ignored(std::string_view line, std::span<const LogField> found,
                                                std::vector<LogField>& fields) {
  if (comparison_.ignored.empty()) return found;
  merged_.clear();
  std::size_t next = 0;
  for (std::size_t at = 0; at < line.size();) {
    const auto match = first_match(comparison_.ignored, line, at);
    if (!match) break;
    LogField ignored{match->begin, match->end, LogField::ignored};
    for (; next < found.size() && found[next].end <= ignored.begin; ++next) merged_.push_back(found[next]);
    at = ignored.end;
    const bool holds =
        next < found.size() && found[next].begin <= ignored.begin && found[next].end >= ignored.end;
    if (holds && found[next].size() > ignored.size()) continue;
    for (; next < found.size() && found[next].begin < ignored.end; ++next) {
      ignored.begin = std::min(ignored.begin, found[next].begin);
      ignored.end = std::max(ignored.end, found[next].end);
    }
    merged_.push_back(ignored);
    at = ignored.end;
  }
  merged_.insert(merged_.end(), found.begin() + static_cast<std::ptrdiff_t>(next), found.end());
  fields.swap(merged_);
  return fields;
}

}  // namespace podrun::output
