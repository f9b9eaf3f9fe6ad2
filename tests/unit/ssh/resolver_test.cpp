// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/transport/resolver.hpp"

#include <net/if.h>
#include <netdb.h>

#include <array>
#include <cerrno>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/report/outcome_words.hpp"

#include "support/run_coroutine.hpp"

namespace podrun::ssh {
namespace {

Addresses addresses(const std::vector<const char*>& texts) {
  Addresses result;
  for (const char* text : texts) result.push_back(asio::ip::make_address(text));
  return result;
}

std::string describe(const Addresses& addresses) {
  std::string text;
  for (const auto& address : addresses) text += (text.empty() ? "" : " ") + address.to_string();
  return text;
}
std::string describe(const link::Failure& failure) {
  const char* retry = failure.retry == link::Retry::may_help ? "may help" : "no";
  return fmt::format("{}: {} (retry: {})", report::words(failure.stage), report::reason(failure), retry);
}

/// A name server in the hand of the test. Used by several threads, which may outlive the test.
class FakeNames : public std::enable_shared_from_this<FakeNames> {
 public:
  void answer(const std::string& name, NameAnswer answer) {
    const std::lock_guard lock(mutex_);
    answers_[name] = std::move(answer);
  }
  /// From now on nothing is answered before open().
  void close() { opened_ = gate_.get_future().share(); }
  void open() { gate_.set_value(); }

  /// `name family` for each time it was asked, in any order.
  std::multiset<std::string> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  AskForName asking() {
    return [self = shared_from_this()](const std::string& name, AddressFamily family) {
      if (self->opened_.valid()) self->opened_.wait_for(test::kDeadline);
      const std::lock_guard lock(self->mutex_);
      self->asked_.insert(fmt::format("{} {}", name, static_cast<int>(family)));
      return self->answers_[name];
    };
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, NameAnswer> answers_;
  std::multiset<std::string> asked_;
  std::promise<void> gate_;
  std::shared_future<void> opened_;
};

class ResolverTest : public testing::Test {
 protected:
  struct Asker {
    Asker(const Resolver& resolver, const std::string& name, AddressFamily family)
        : lookup(std::in_place, resolver, name, family) {}
    std::optional<Lookup> lookup;
    std::string said = "";
  };

  /// Begins a look-up; what becomes of it is in `said` when the context has run.
  Asker& look_up(const std::string& name, AddressFamily family = AddressFamily::any) {
    Asker& asker = *askers_.emplace_back(std::make_unique<Asker>(resolver_, name, family));
    asio::co_spawn(*context_, follow(asker), asio::detached);
    return asker;
  }
  std::string answer_to(const std::string& name, AddressFamily family = AddressFamily::any) {
    const Asker& asker = look_up(name, family);
    EXPECT_TRUE(run());
    return asker.said;
  }
  /// Until nothing is left to do; false when that is not so by the deadline.
  bool run() {
    context_->restart();
    context_->run_for(test::kDeadline);
    return context_->stopped();
  }
  void run_what_is_due() {
    context_->restart();
    while (context_->poll() > 0) context_->restart();
  }

  const std::shared_ptr<FakeNames> names_ = std::make_shared<FakeNames>();
  std::shared_ptr<asio::io_context> context_ = std::make_shared<asio::io_context>(1);
  std::optional<BlockingPool> pool_{std::in_place, context_, 4};
  Resolver resolver_{context_->get_executor(), *pool_, names_->asking()};
  std::vector<std::unique_ptr<Asker>> askers_;

 private:
  static asio::awaitable<void> follow(Asker& asker) {
    try {
      asker.said = describe(co_await asker.lookup->get());
    } catch (const link::HostError& error) {
      asker.said = describe(error.failure());
    }
  }
};

TEST_F(ResolverTest, KeepsTheOrderAndGivesEachAddressOnce) {
  names_->answer("tpu-7",
                 {.addresses = addresses({"10.0.0.9", "fd00::7", "10.0.0.7", "10.0.0.9", "fd00::7"})});
  EXPECT_EQ(answer_to("tpu-7"), "10.0.0.9 fd00::7 10.0.0.7");
}

TEST_F(ResolverTest, AsksOnceForEqualNames) {
  names_->answer("pod", {.addresses = addresses({"10.0.0.1"})});
  names_->close();
  for (int i = 0; i < 20; ++i) look_up("pod");
  look_up("tpu-1");
  look_up("pod", AddressFamily::ipv4);
  names_->open();
  EXPECT_TRUE(run());
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(askers_[i]->said, "10.0.0.1");
  EXPECT_EQ(answer_to("pod"), "10.0.0.1") << "known";
  EXPECT_EQ(names_->asked(), (std::multiset<std::string>{"pod 0", "pod 1", "tpu-1 0"}));
}

TEST_F(ResolverTest, AsksAgainForWhatHasFailed) {
  names_->answer("tpu-7", {.error = EAI_AGAIN});
  const Asker& other = look_up("tpu-7");
  EXPECT_EQ(answer_to("tpu-7"), "name look-up: Temporary failure in name resolution (retry: may help)");
  EXPECT_EQ(other.said, "name look-up: Temporary failure in name resolution (retry: may help)");
  EXPECT_EQ(names_->asked().size(), 1u);
  names_->answer("tpu-7", {.addresses = addresses({"10.0.0.7"})});
  EXPECT_EQ(answer_to("tpu-7"), "10.0.0.7");
}

TEST_F(ResolverTest, SaysWhatTheSystemSays) {
  names_->answer("unknown", {.error = EAI_NONAME});
  names_->answer("broken", {.error = EAI_SYSTEM, .system_error = EMFILE});
  names_->answer("memory", {.error = EAI_MEMORY});
  EXPECT_EQ(answer_to("unknown"), "name look-up: Name or service not known (retry: no)");
  EXPECT_EQ(answer_to("broken"), "name look-up: Too many open files (retry: may help)");
  EXPECT_EQ(answer_to("memory"), "name look-up: Memory allocation failure (retry: may help)");
  EXPECT_EQ(answer_to("nothing"), "name look-up: Name or service not known (retry: no)");
}

TEST_F(ResolverTest, NeverAsksForAddresses) {
  names_->close();
  EXPECT_EQ(answer_to("10.0.0.7"), "10.0.0.7");
  EXPECT_EQ(answer_to("10.0.0.7", AddressFamily::ipv4), "10.0.0.7");
  EXPECT_EQ(answer_to("fd00::7"), "fd00::7");
  EXPECT_EQ(answer_to("FD00:0::7", AddressFamily::ipv6), "fd00::7");
  std::array<char, IF_NAMESIZE> interface {};
  ASSERT_NE(::if_indextoname(1, interface.data()), nullptr);
  EXPECT_EQ(answer_to("fe80::1%1"), fmt::format("fe80::1%{}", interface.data()));
  EXPECT_EQ(answer_to(fmt::format("fe80::1%{}", interface.data())),
            fmt::format("fe80::1%{}", interface.data()));
  EXPECT_EQ(names_->asked().size(), 0u);
}

TEST_F(ResolverTest, RefusesAddressesThatCannotBeUsed) {
  EXPECT_EQ(answer_to("10.0.0.7", AddressFamily::ipv6),
            "name look-up: Address family for hostname not supported (retry: no)");
  EXPECT_EQ(answer_to("fd00::7", AddressFamily::ipv4),
            "name look-up: Address family for hostname not supported (retry: no)");
  EXPECT_EQ(answer_to("fe80::1%nosuch0"), "name look-up: no such network interface \"nosuch0\" (retry: no)");
  EXPECT_EQ(answer_to("::1%lo"),
            "name look-up: a zone is only for link-local addresses, fe80::… (leave out \"%lo\") (retry: no)");
  EXPECT_EQ(names_->asked().size(), 0u);
}

TEST_F(ResolverTest, EndsAtOnceWhenItIsStopped) {
  names_->answer("slow", {.addresses = addresses({"10.0.0.7"})});
  names_->close();
  Asker& stopped = look_up("slow");
  const Asker& other = look_up("slow");
  run_what_is_due();
  stopped.lookup->stop({.stage = link::Stage::name_lookup,
                        .cause = link::Cause::timed_out,
                        .retry = link::Retry::may_help,
                        .after = std::chrono::seconds(10)});
  stopped.lookup->stop({link::Stage::none, link::Cause::other, "too late"});
  run_what_is_due();
  EXPECT_EQ(stopped.said, "name look-up: timed out after 10 s (retry: may help)");
  EXPECT_EQ(other.said, "");
  names_->open();
  EXPECT_TRUE(run());
  EXPECT_EQ(stopped.said, "name look-up: timed out after 10 s (retry: may help)");
  EXPECT_EQ(other.said, "10.0.0.7");
}

TEST_F(ResolverTest, KeepsAnAnswerThatNobodyWaitedFor) {
  names_->answer("slow", {.addresses = addresses({"10.0.0.7"})});
  names_->close();
  Asker& abandoned = look_up("slow");
  run_what_is_due();
  abandoned.lookup.reset();
  run_what_is_due();
  EXPECT_EQ(abandoned.said, ": abandoned (retry: no)");
  names_->open();
  EXPECT_TRUE(run());
  EXPECT_EQ(answer_to("slow"), "10.0.0.7");
  EXPECT_EQ(names_->asked().size(), 1u);
}

TEST_F(ResolverTest, CanBeStoppedBeforeItBegins) {
  Lookup lookup(resolver_, "10.0.0.7", AddressFamily::any);
  lookup.stop({link::Stage::none, link::Cause::other, "interrupted"});
  std::string said;
  asio::co_spawn(*context_, lookup.get(), [&](const std::exception_ptr& error, const Addresses&) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const link::HostError& host_error) {
      said = describe(host_error.failure());
    }
  });
  EXPECT_TRUE(run());
  EXPECT_EQ(said, ": interrupted (retry: no)");
}

TEST_F(ResolverTest, MayBeLeftWhileItWaits) {
  names_->close();
  const Asker& asker = look_up("slow");
  run_what_is_due();
  pool_.reset();
  names_->open();
  run_what_is_due();
  EXPECT_EQ(asker.said, "") << "no answer comes any more";
}

TEST(AskSystem, KnowsThisMachine) {
  const NameAnswer answer = ask_system("localhost", AddressFamily::ipv4);
  ASSERT_EQ(answer.error, 0);
  EXPECT_THAT(describe(answer.addresses), testing::AnyOf("127.0.0.1", "127.0.0.1 127.0.0.1"))
      << "not for every kind of socket, but the C library takes ::1 in /etc/hosts for it too";
}

TEST(AskSystem, ReadsBothFamilies) {
  EXPECT_EQ(describe(ask_system("::1", AddressFamily::any).addresses), "::1");
  EXPECT_EQ(describe(ask_system("fe80::1%1", AddressFamily::ipv6).addresses),
            describe(addresses({"fe80::1%1"})));
  EXPECT_EQ(describe(ask_system("127.0.0.3", AddressFamily::any).addresses), "127.0.0.3");
}

TEST(AskSystem, SaysWhyNot) {
  EXPECT_EQ(ask_system("", AddressFamily::any).error, EAI_NONAME);
  EXPECT_EQ(ask_system("::1", AddressFamily::ipv4).error, EAI_ADDRFAMILY);
}

}  // namespace
}  // namespace podrun::ssh
