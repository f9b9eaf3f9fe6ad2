// SPDX-License-Identifier: Apache-2.0
// Random hosts that print mostly equal lines, each at its own speed; a clock; and a reader that checks the
// result.
#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "podrun/output/dedup/dedup.hpp"

namespace podrun::output {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMuch = std::size_t{1} << 20U;

/// Lines that are shown as one must agree in these.
using Kind = std::pair<LineEnd, std::string>;

/// A line of a script. Its text may name a host.
struct Scripted {
  Kind kind;
  enum class Names { nobody, speaker, first } names = Names::nobody;
};

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

/// The text of a line is its plain key, `@`, and the host that said it.
std::string plain_of(std::string_view text) { return std::string(text.substr(0, text.find('@'))); }

/// Does to Dedup what the output thread does, and checks all that it does in return.
class Reader {
 public:
  Reader(std::size_t hosts, const DedupLimits& limits)
      : limits_(limits),
        dedup_(hosts, limits, [this](const DedupedLine& line) { show(line); }),
        in_pieces_(hosts),
        waiting_(hosts),
        answered_(hosts) {}

  void say(std::size_t host, const Scripted& line) {
    const auto& [end, words] = line.kind;
    const std::size_t named = line.names == Scripted::Names::speaker ? host : 0;
    const bool names_itself = line.names != Scripted::Names::nobody && named == host;
    const std::string plain =
        line.names == Scripted::Names::nobody ? words : fmt::format("{} h{}", words, named);
    const std::string key = names_itself ? words + " own" : plain;
    const bool is_piece = end == LineEnd::piece;
    const bool is_rest = in_pieces_[host];
    in_pieces_[host] = is_piece;
    const bool is_plain_new = known_.insert({end, plain}).second;
    const bool is_key_new = known_.insert({end, key}).second;
    const bool is_new = is_plain_new && is_key_new;
    repeats_ = repeats_ || !own_.insert({host, {end, key}}).second;
    if (is_new && leaves_out(host)) {
      for (Said& said : waiting_[host]) said.is_told |= said.time == now_;
    }
    waiting_[host].push_back({{end, key}, plain, now_, is_piece || is_rest});
    const std::string text = fmt::format("{}@{}", plain, host);
    dedup_.line(now_, host, {text, end},
                {.key = key, .plain = names_itself ? std::optional(std::string_view(plain)) : std::nullopt});
    ++said_;
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
    EXPECT_EQ(counted + late_, said_);
  }

  std::size_t shown() const { return shown_.size(); }

 private:
  struct Said {
    Kind kind;
    std::string plain;
    Dedup::TimePoint time;
    bool is_torn = false;  ///< a piece of a line, or the rest of it
    bool is_told =
        false;  ///< a line that nobody had said followed at once, not where the others were: it is not late
  };
  struct Shown {
    Kind kind;
    std::string plain;
    Dedup::TimePoint time;
    std::set<std::size_t> hosts;
    bool is_torn;

    bool may_be_of(const Said& said) const {
      return kind == said.kind || (kind.first == said.kind.first && plain == said.plain);
    }
  };

  /// Whether others have printed a line after all those that the host has. (Where lines occur more than once,
  /// this is not known.)
  bool leaves_out(std::size_t host) const {
    if (repeats_ || shown_.empty() || shown_.back().time + limits_.late < now_) return false;
    const Shown& last = shown_.back();
    return !last.is_torn && !last.hosts.count(host) && !answered_[host].count(shown_.size() - 1) &&
           std::none_of(waiting_[host].begin(), waiting_[host].end(),
                        [&](const Said& said) { return last.may_be_of(said); });
  }

  void show(const DedupedLine& line) {
    ASSERT_FALSE(waiting_[line.host].empty());
    const Said& first = waiting_[line.host].front();
    Shown shown{first.kind, first.plain, now_, {line.hosts.begin(), line.hosts.end()}, first.is_torn};
    ASSERT_EQ(first.plain, plain_of(line.text));
    bool all_alike = true;
    bool all_plain = true;
    ASSERT_TRUE(std::is_sorted(line.hosts.begin(), line.hosts.end()));
    ASSERT_EQ(shown.hosts.size(), line.hosts.size()) << "a host twice";
    ASSERT_FALSE(shown.hosts.empty());
    EXPECT_LE(line.late.value_or(0ms), limits_.late);
    ASSERT_TRUE(shown.hosts.count(std::stoul(std::string(line.text.substr(line.text.find('@') + 1)))));
    for (const std::size_t host : shown.hosts) {
      ASSERT_FALSE(waiting_[host].empty()) << "never said";
      const Said& said = waiting_[host].front();
      ASSERT_TRUE(shown.may_be_of(said)) << "out of order";
      all_alike = all_alike && said.kind == shown.kind;
      all_plain = all_plain && said.plain == shown.plain;
      ASSERT_TRUE(!waiting_[host].front().is_torn || shown.hosts.size() == 1) << "torn";
      if (line.late) was_late(host, waiting_[host].front());
      waiting_[host].pop_front();
    }
    ASSERT_TRUE(all_alike || all_plain) << "equal by different keys";
    if (line.late) {
      late_ += shown.hosts.size();
    } else {
      shown_.push_back(std::move(shown));
    }
  }

  /// There must be a line that was shown, not too long before, for others, and is not another late one's.
  void was_late(std::size_t host, const Said& said) {
    ASSERT_FALSE(said.is_torn);
    ASSERT_FALSE(said.is_told && limits_.bytes > kMuch)
        << "late before a new line " << host << " " << said.kind.second;
    std::set<std::size_t> tried;
    ASSERT_TRUE(finds_shown(host, said, tried)) << "late for nothing";
  }

  /// Gives the late line a shown one of its own; another late line may have to take another one.
  bool finds_shown(std::size_t host, const Said& said, std::set<std::size_t>& tried) {
    for (std::size_t i = 0; i < shown_.size(); ++i) {
      if (!shown_[i].may_be_of(said) || shown_[i].time + limits_.late < said.time ||
          shown_[i].hosts.count(host) || !tried.insert(i).second)
        continue;
      const auto taken = answered_[host].find(i);
      if (taken != answered_[host].end() && !finds_shown(host, Said(taken->second), tried)) continue;
      answered_[host].insert_or_assign(i, said);
      return true;
    }
    return false;
  }

  void check() {
    EXPECT_LE(dedup_.bytes(), limits_.bytes);
    for (const auto& waiting : waiting_) {
      if (waiting.empty()) continue;
      EXPECT_LT(now_, waiting.front().time + limits_.window) << "open too long";
    }
  }

  const DedupLimits limits_;
  Dedup dedup_;
  Dedup::TimePoint now_{1h};
  std::vector<bool> in_pieces_;
  bool repeats_ = false;                        ///< a host has said a line twice
  std::set<std::pair<std::size_t, Kind>> own_;  ///< what each host has said
  std::vector<std::deque<Said>> waiting_;  ///< for each host: lines that are said, but neither shown nor late
  std::vector<std::map<std::size_t, Said>> answered_;  ///< for each host: the shown_ lines it was late for
  std::vector<Shown> shown_;
  std::set<Kind> known_;
  std::size_t said_ = 0;
  std::size_t late_ = 0;
};

Scripted plain(std::size_t number) { return {{LineEnd::newline, std::to_string(number)}}; }

std::vector<Scripted> random_script(Random& random, std::size_t lines, std::size_t different) {
  std::vector<Scripted> script;
  const std::size_t named = random.pick(2) * 30;
  for (std::size_t i = 0; i < lines; ++i) {
    const LineEnd whole = random.chance(20) ? LineEnd::end_of_stream : LineEnd::newline;
    const LineEnd end = random.chance(3) ? LineEnd::piece : whole;
    const auto names = random.chance(50) ? Scripted::Names::speaker : Scripted::Names::first;
    script.push_back(
        {{end, std::string(1 + random.pick(2) * 30, 'x') + std::to_string(random.pick(different))},
         random.chance(named) ? names : Scripted::Names::nobody});
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
  std::vector<Scripted> script;
  const std::size_t different = 1 + random.pick(20);
  for (std::size_t lines = random.pick(40); lines > 0; --lines)
    script.push_back(plain(random.pick(different)));
  script.push_back({{LineEnd::newline, "end"}});
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
