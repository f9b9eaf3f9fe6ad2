// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include <asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/ssh/auth/login_memory.hpp"

namespace podrun::ssh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Result = Passwords::Result;

class PasswordsTest : public testing::Test {
 protected:
  void answer(const std::string& password) { passwords_.answer(root_, Secret(std::string(password))); }
  std::shared_ptr<Event> event() { return std::make_shared<Event>(context_.get_executor()); }

  asio::io_context context_;
  Passwords passwords_;
  const Account root_{"root"};
};

TEST_F(PasswordsTest, AreAskedForOnceForEachAccount) {
  passwords_.want(root_, "tpu-0");
  passwords_.want(root_, "tpu-1");
  passwords_.want({"root", "gate"}, "10.0.0.1");
  const std::vector<Passwords::Question> questions = passwords_.take_questions();
  ASSERT_THAT(questions, SizeIs(2));
  EXPECT_THAT(questions[0].hosts, ElementsAre("tpu-0", "tpu-1"));
  EXPECT_EQ(questions[1].account.jump_host, "gate");
  EXPECT_FALSE(questions[0].was_wrong);
  EXPECT_THAT(passwords_.take_questions(), IsEmpty());
}

TEST_F(PasswordsTest, AreTriedByOneLoginAlone) {
  EXPECT_EQ(passwords_.find(root_), nullptr);
  answer("guess");
  EXPECT_FALSE(passwords_.is_on_trial(root_, event()));
  Passwords::Trial trial(passwords_, root_);
  EXPECT_TRUE(passwords_.is_on_trial(root_, event()));
  trial.end(Result::refused);
  EXPECT_FALSE(passwords_.is_on_trial(root_, event()));
  EXPECT_EQ(passwords_.find(root_), nullptr) << "a wrong one is not tried again";
  EXPECT_EQ(passwords_.wrong_answers(root_), 1U);
  passwords_.want(root_, "tpu-0");
  EXPECT_TRUE(passwords_.take_questions().at(0).was_wrong);
}

TEST_F(PasswordsTest, AreUsedByAllLoginsOnceOneHostHasAcceptedThem) {
  answer("open sesame");
  Passwords::Trial(passwords_, root_).end(Result::accepted);
  EXPECT_TRUE(passwords_.is_accepted(root_));
  Passwords::Trial second(passwords_, root_);
  EXPECT_FALSE(passwords_.is_on_trial(root_, event()));
  second.end(Result::refused);
  ASSERT_NE(passwords_.find(root_), nullptr) << "it is right elsewhere";
  EXPECT_EQ(passwords_.find(root_)->text(), "open sesame");
}

TEST_F(PasswordsTest, AreTriedByTheNextLoginWhenTheConnectionOfTheFirstFails) {
  answer("open sesame");
  const auto waiting = event();
  {
    Passwords::Trial trial(passwords_, root_);
    EXPECT_TRUE(passwords_.is_on_trial(root_, waiting));
    trial.end(Result::none);
  }
  EXPECT_FALSE(passwords_.is_on_trial(root_, event()));
  EXPECT_NE(passwords_.find(root_), nullptr);
  { const Passwords::Trial dropped(passwords_, root_); }
  EXPECT_FALSE(passwords_.is_on_trial(root_, event())) << "as when a run is torn down";
}

}  // namespace
}  // namespace podrun::ssh
