// SPDX-License-Identifier: Apache-2.0
#include "podrun/transfer/comparison.hpp"

#include <string>

#include <gtest/gtest.h>

#include "podrun/link/failure.hpp"

#include "unit/transfer/source_tree.hpp"

namespace podrun::transfer {
namespace {

TEST(Comparison, RefusesMorePathsThanTheBudget) {
  SourceTree source;
  source.write("app/a");
  source.write("app/b");
  const LocalTree tree = LocalTree::read({.sources = {source.path("app/")}});
  const auto take = [&](Delete remove, std::size_t most, const std::vector<std::string>& paths) {
    Comparison comparison(tree, Compare::size_and_time, remove, PathBudget(most));
    for (const std::string& path : paths) comparison.add({.path = path, .kind = 'f'});
    return comparison.take_host_only().size();
  };
  EXPECT_EQ(take(Delete::yes, 2, {"", "a", "y", "b", "x"}), 2U);
  EXPECT_EQ(take(Delete::no, 2, {"x", "y", "z"}), 0U);
  EXPECT_THROW(take(Delete::yes, 2, {"x", "y", "z"}), link::HostError);
  EXPECT_THROW(take(Delete::yes, 2, {std::string(300, 'x')}), link::HostError);
}

}  // namespace
}  // namespace podrun::transfer
