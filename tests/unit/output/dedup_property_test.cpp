// SPDX-License-Identifier: Apache-2.0
// Random hosts that print mostly equal lines, each at its own speed; a clock; and a reader that checks the
// result.
#include <algorithm>
#include <deque>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "podrun/output/dedup/dedup.hpp"

namespace podrun::output {
namespace {

using namespace std::chrono_literals;

/// Lines that are shown as one must agree in these.
using Kind = std::pair<LineEnd, std::string>;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::size_t pick(std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(engine_);
  }
  bool chance(std::size_t percent) { return pick(100) < percent; }

 private:
  std::mt19937 engine_;
};

/// The text of a line is its key, `@`, and the host that said it.
std::string key_of(std::string_view text) { return std::string(text.substr(0, text.find('@'))); }

/// Does to Dedup what the output thread does, and checks all that it does in return.
class Reader {
 public:
  Reader(std::size_t hosts, const DedupLimits& limits)
      : limits_(limits),
        dedup_(hosts, limits, [this](const DedupedLine& line) { show(line); }),
        in_pieces_(hosts),
        waiting_(hosts),
        answered_(hosts) {}

  void say(std::size_t host, const Kind& kind) {
    const auto& [end, key] = kind;
    const std::string text = key + "@" + std::to_string(host);
    const LateLines before = dedup_.late()[host];
    const bool is_piece = end == LineEnd::piece;
    const bool is_rest = in_pieces_[host];
    in_pieces_[host] = is_piece;
    waiting_[host].push_back({kind, now_, is_piece || is_rest});
    dedup_.line(now_, host, {text, end}, key);
    ++said_;
    if (dedup_.late()[host].lines != before.lines) was_late(host, kind);
    check();
  }
  void end(std::size_t host) {
    dedup_.host_ended(host);
    check();
  }
  void wait(std::chrono::milliseconds time) {
    const Dedup::TimePoint until = now_ + time;
    while (dedup_.next_tick() <= until) {
      ASSERT_GE(dedup_.next_tick(), now_);
      now_ = dedup_.next_tick();
      dedup_.tick(now_);
      check();
    }
    dedup_.tick(now_ = until);
    check();
  }
  void finish() {
    dedup_.finish();
    for (const auto& waiting : waiting_) EXPECT_TRUE(waiting.empty());
    EXPECT_EQ(dedup_.next_tick(), Dedup::TimePoint::max());
    std::size_t counted = 0;
    for (const Shown& shown : shown_) counted += shown.hosts.size();
    for (const LateLines& late : dedup_.late()) counted += late.lines;
    EXPECT_EQ(counted, said_);
  }

  std::size_t shown() const { return shown_.size(); }

 private:
  struct Said {
    Kind kind;
    Dedup::TimePoint time;
    bool is_torn = false;  ///< a piece of a line, or the rest of it
  };
  struct Shown {
    Kind kind;
    Dedup::TimePoint time;
    std::set<std::size_t> hosts;
  };

  void show(const DedupedLine& line) {
    Shown shown{{line.end, key_of(line.text)}, now_, {line.hosts.begin(), line.hosts.end()}};
    ASSERT_TRUE(std::is_sorted(line.hosts.begin(), line.hosts.end()));
    ASSERT_EQ(shown.hosts.size(), line.hosts.size()) << "a host twice";
    ASSERT_FALSE(shown.hosts.empty());
    ASSERT_TRUE(shown.hosts.count(std::stoul(std::string(line.text.substr(line.text.find('@') + 1)))));
    for (const std::size_t host : shown.hosts) {
      ASSERT_FALSE(waiting_[host].empty()) << "never said";
      ASSERT_EQ(waiting_[host].front().kind, shown.kind) << "out of order";
      ASSERT_TRUE(!waiting_[host].front().is_torn || shown.hosts.size() == 1) << "torn";
      waiting_[host].pop_front();
    }
    shown_.push_back(std::move(shown));
  }

  /// There must be a line that was shown, not too long ago, for others, and is not another late one's.
  void was_late(std::size_t host, const Kind& kind) {
    ASSERT_FALSE(waiting_[host].empty());
    ASSERT_EQ(waiting_[host].back().kind, kind);
    ASSERT_FALSE(waiting_[host].back().is_torn);
    waiting_[host].pop_back();
    for (std::size_t i = 0; i < shown_.size(); ++i) {
      if (shown_[i].kind != kind || shown_[i].time + limits_.late < now_ || shown_[i].hosts.count(host))
        continue;
      if (answered_[host].insert(i).second) return;
    }
    FAIL() << "late for nothing";
  }

  void check() {
    EXPECT_LE(dedup_.bytes(), limits_.bytes);
    for (const auto& waiting : waiting_) {
      if (waiting.empty()) continue;
      EXPECT_LT(now_, waiting.front().time + limits_.window) << "open too long";
    }
    for (const LateLines& late : dedup_.late()) EXPECT_LE(late.lag, limits_.late);
  }

  const DedupLimits limits_;
  Dedup dedup_;
  Dedup::TimePoint now_{1h};
  std::vector<bool> in_pieces_;
  std::vector<std::deque<Said>> waiting_;  ///< for each host: lines that are said, but neither shown nor late
  std::vector<std::set<std::size_t>> answered_;  ///< for each host: the shown_ lines it was late for
  std::vector<Shown> shown_;
  std::size_t said_ = 0;
};

Kind plain(std::size_t number) { return {LineEnd::newline, std::to_string(number)}; }

std::vector<Kind> random_script(Random& random, std::size_t lines, std::size_t different) {
  std::vector<Kind> script;
  for (std::size_t i = 0; i < lines; ++i) {
    const LineEnd whole = random.chance(20) ? LineEnd::end_of_stream : LineEnd::newline;
    const LineEnd end = random.chance(3) ? LineEnd::piece : whole;
    script.push_back(
        {end, std::string(1 + random.pick(2) * 30, 'x') + std::to_string(random.pick(different))});
  }
  return script;
}

DedupLimits random_limits(Random& random) {
  DedupLimits limits;
  limits.window = std::chrono::milliseconds(random.pick(2) * 100 + 1 + random.pick(20));
  limits.late = std::chrono::milliseconds(random.pick(300));
  if (random.chance(50)) limits.bytes = 1 + random.pick(20'000);
  return limits;
}

/// Hosts that leave out, add, change and swap lines, that are slow, and that end when they like.
void chaos(unsigned seed) {
  Random random(seed);
  const std::size_t hosts = 1 + random.pick(20);
  const auto script = random_script(random, 1 + random.pick(30), 1 + random.pick(12));
  const std::size_t disorder = random.pick(30);
  const std::size_t slowness = random.pick(100);
  Reader reader(hosts, random_limits(random));
  std::vector<std::size_t> at(hosts);
  std::vector<std::size_t> running(hosts);
  for (std::size_t host = 0; host < hosts; ++host) running[host] = host;
  while (!running.empty() && !testing::Test::HasFailure()) {
    const std::size_t turn = std::min(random.pick(running.size()), random.pick(running.size()));
    const std::size_t host = running[turn];
    for (std::size_t burst = 1 + random.pick(6); burst > 0 && at[host] < script.size(); --burst) {
      const std::size_t other = random.chance(disorder) ? random.pick(script.size()) : at[host];
      if (!random.chance(disorder)) reader.say(host, script[other]);
      if (!random.chance(disorder / 2)) ++at[host];
    }
    if (at[host] == script.size() || random.chance(1)) {
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(turn));
      reader.end(host);
    }
    if (random.chance(slowness)) reader.wait(std::chrono::milliseconds(random.pick(60)));
  }
  reader.finish();
}

TEST(DedupProperty, EveryLineIsShownOnceOrCountedInItsOrder) {
  for (unsigned seed = 0; seed < 4000 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    chaos(seed);
  }
}

/// Hosts that print equal lines, except for some lines of their own (percent), in bursts of any length within
/// the window. Returns the number of lines if all equal ones are shown once, and the number that was shown.
std::pair<std::size_t, std::size_t> harmony(unsigned seed, std::size_t own) {
  Random random(seed);
  const std::size_t hosts = 2 + random.pick(10);
  std::vector<Kind> script;
  const std::size_t different = 1 + random.pick(20);
  for (std::size_t lines = random.pick(40); lines > 0; --lines)
    script.push_back(plain(random.pick(different)));
  script.push_back({LineEnd::newline, "end"});
  Reader reader(hosts, {});
  std::vector<std::size_t> at(hosts);
  std::size_t to_show = script.size();
  for (std::size_t done = 0; done < hosts;) {
    const std::size_t host = random.pick(hosts);
    for (std::size_t burst = 1 + random.pick(30); burst > 0 && at[host] < script.size(); --burst) {
      if (random.chance(own)) reader.say(host, plain(1000 + to_show++));
      reader.say(host, script[at[host]]);
      if (++at[host] == script.size()) ++done;
    }
  }
  reader.finish();
  return {to_show, reader.shown()};
}

TEST(DedupProperty, HostsThatSayTheSameAreShownAsOne) {
  for (unsigned seed = 0; seed < 1000 && !HasFailure(); ++seed) {
    const auto [to_show, shown] = harmony(seed, 0);
    EXPECT_EQ(shown, to_show) << seed;
  }
}

TEST(DedupProperty, LinesOfTheirOwnDoNotKeepHostsApart) {
  std::size_t to_show = 0;
  std::size_t shown = 0;
  for (unsigned seed = 0; seed < 2000 && !HasFailure(); ++seed) {
    const auto result = harmony(seed, 1 + seed % 30);
    to_show += result.first;
    shown += result.second;
  }
  EXPECT_LE(shown - to_show, to_show / 1000) << "of " << to_show;
}

}  // namespace
}  // namespace podrun::output
