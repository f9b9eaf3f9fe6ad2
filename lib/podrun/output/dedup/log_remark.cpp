// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/dedup/log_remark.hpp"

#include <functional>

namespace podrun::output {

bool LogRemark::wants_line(TimePoint now) {
  if (!begun_ || now >= *begun_ + kWindow) {
    *this = LogRemark();
    begun_ = now;
  }
  return lines_ < kMost;
}

void LogRemark::add(std::size_t host, std::string_view text, std::string_view log_key) {
  ++lines_;
  if (is_of_another_host(texts_, text, host)) ++equal_;
  if (is_of_another_host(keys_, log_key, host)) ++equal_keys_;
}

bool LogRemark::is_of_another_host(Seen& seen, std::string_view text, std::size_t host) {
  return seen.emplace(std::hash<std::string_view>()(text), host).first->second != host;
}

bool LogRemark::is_due(TimePoint now) const {
  return begun_ && now >= *begun_ + kWindow && lines_ >= kLeast && equal_ * 10 < lines_ &&
         equal_keys_ * 3 > lines_;
}

}  // namespace podrun::output
