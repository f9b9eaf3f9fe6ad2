// SPDX-License-Identifier: Apache-2.0
// The ranks in a line: which are the host's own, and which words for them count.
#include <algorithm>
#include <functional>

#include "podrun/output/log_key/line_fields.hpp"

namespace podrun::output {

/// A word for machines means the worker number first, other words the rank. They differ when only some hosts
/// run.
bool LineFields::settle_rank(LogField& field, const ShapeMatch& match) {
  const std::string_view number = text(field);
  const std::size_t word =
      std::hash<std::string_view>()(line_.substr(match.begin, field.begin - match.begin));
  if (number == process_rank_) {
    field.kind = is_local(number) ? LogField::kept : LogField::process_rank;
    return true;
  }
  const bool is_rank = number == rank_;
  const bool is_worker = number == worker_;
  if (words_.counts(word)) return false;
  const bool is_own = is_rank || is_worker;
  ranks_.push_back({field.begin, field.end, word, is_own});
  field.kind =
      is_rank && (!is_worker || field.kind == LogField::own_rank) ? LogField::rank : LogField::worker;
  return is_own;
}

/// A line with ranks may show that their words count.
void LineFields::learn_ranks() {
  const RankNumber& first = ranks_.front();
  if (!words_.see(form(), first.word, first.is_own)) return;
  std::erase_if(fields_, [&](const LogField& field) { return field.begin == first.begin; });
}

/// The hash of the line without its fields and without its first rank.
std::size_t LineFields::form() const {
  std::size_t hash = 0;
  std::size_t at = 0;
  const auto add = [&](std::size_t begin, std::size_t end) {
    hash = hash * 31 + std::hash<std::string_view>()(line_.substr(at, begin - at));
    at = end;
  };
  const RankNumber& first = ranks_.front();
  bool has_first = false;
  for (const LogField& field : fields_) {
    if (!has_first && field.begin >= first.begin) {
      add(first.begin, first.end);
      has_first = true;
    }
    if (field.begin >= at) add(field.begin, field.end);
  }
  if (!has_first) add(first.begin, first.end);
  add(line_.size(), line_.size());
  return hash;
}

}  // namespace podrun::output
