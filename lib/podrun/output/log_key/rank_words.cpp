// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/log_key/rank_words.hpp"

#include <algorithm>

namespace podrun::output {

bool RankWords::counts(std::size_t word) const {
  return std::find(counting_.begin(), counting_.end(), word) != counting_.end();
}

bool RankWords::see(std::size_t form, std::size_t word, bool is_own) {
  const auto hash_of = [](std::size_t seen) { return seen & ~(kOwn | kOther); };
  auto known = std::find_if(forms_.begin(), forms_.end(),
                            [&](std::size_t seen) { return hash_of(seen) == hash_of(form); });
  if (known == forms_.end()) {
    known = &forms_[next_form_++ % forms_.size()];
    *known = hash_of(form);
  }
  *known |= is_own ? kOwn : kOther;
  if (*known - hash_of(*known) != (kOwn | kOther)) return false;
  counting_[next_counting_++ % counting_.size()] = word;
  return true;
}

}  // namespace podrun::output
