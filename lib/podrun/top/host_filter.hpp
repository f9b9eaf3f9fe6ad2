// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/top/top_pod.hpp"

namespace podrun::top {

/// Which hosts are shown: words that all must be true. `gpu<50` and `ram>=90` compare a figure (the ids of
/// figure_kinds()), `user=alice`, `user!=me` and `run=train` the holders, `[0-15]` or `3,7` the number,
/// `odd`, `lost` and `stale` the state; other words are a part of the name. Pure.
class HostFilter {
 public:
  HostFilter() = default;
  /// Throws UsageError that names the word.
  explicit HostFilter(std::string_view text);

  const std::string& text() const { return text_; }
  bool is_empty() const { return terms_.empty(); }
  bool accepts(const Pod& pod, std::size_t host) const;

 private:
  struct Term {
    enum class Kind { figure, user, run, workers, state, name };
    Kind kind = Kind::name;
    Figure figure = Figure::busy;
    std::string relation = {};  ///< `<`, `<=`, `>`, `>=`, `=`, `!=`
    double value = 0;
    std::string text = {};
    std::vector<std::size_t> workers = {};
  };
  static Term parse(std::string_view word);
  static bool is_true(const Term& term, const Pod& pod, std::size_t host);

  std::string text_;
  std::vector<Term> terms_;
};

}  // namespace podrun::top
