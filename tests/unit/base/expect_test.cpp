// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/expect.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

namespace podrun {
namespace {

// Tests are built with PODRUN_DEV.

TEST(Expect, ThrowsWhereAPromiseIsBroken) {
  EXPECT_NO_THROW(expect(true, "kept"));
  EXPECT_THROW(expect(false, "broken"), std::logic_error);
}

TEST(Expect, AllowsOneCall) {
  Once once;
  EXPECT_NO_THROW(once.call("once"));
  EXPECT_THROW(once.call("once"), std::logic_error);
}

TEST(Expect, AllowsOneThread) {
  const OneThread own;
  EXPECT_NO_THROW(own.check("own"));
  std::thread([&own] { EXPECT_THROW(own.check("own"), std::logic_error); }).join();
}

/// An object that others refer to, as a session.
struct Owner {
  const Lender lender{"an Owner outlives its users"};
};

/// An object that refers to another one, as a run refers to its session.
class User {
 public:
  explicit User(const Owner& owner) : owner_lives_(owner.lender) {}

 private:
  const Borrowed owner_lives_;
};

TEST(Lender, MayEndAfterItsUsers) {
  auto owner = std::make_unique<Owner>();
  std::optional<User> user(std::in_place, *owner);
  std::optional<User> copy = user;
  user.reset();
  copy.reset();
  owner.reset();
}

TEST(LenderDeathTest, DoesNotEndBeforeAUser) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto owner = std::make_unique<Owner>();
        const User user(*owner);
        owner.reset();
      },
      "an Owner outlives its users");
}

TEST(LenderDeathTest, DoesNotEndBeforeTheCopyOfAUser) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto owner = std::make_unique<Owner>();
        std::optional<User> user(std::in_place, *owner);
        const User copy = *user;
        user.reset();
        owner.reset();
      },
      "an Owner outlives its users");
}

TEST(Lender, LeavesTheErrorThatEndsARunAlone) {
  std::optional<User> user;
  const auto fail = [&user] {
    const Owner owner;
    user.emplace(owner);
    throw std::runtime_error("the first error");
  };
  EXPECT_THROW(fail(), std::runtime_error);
  user.reset();  // after its owner
}

}  // namespace
}  // namespace podrun
