// SPDX-License-Identifier: Apache-2.0
#include "podrun/supervisor/protocol.hpp"

#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "podrun/report/outcome_words.hpp"

namespace podrun::supervisor {
namespace {

using std::chrono::seconds;
using Texts = std::vector<std::string>;

constexpr std::string_view kNonce = "0123456789abcdef";
const std::string kStart = "\npodrun1 0123456789abcdef ";

/// The result of reading some bytes.
struct Read {
  std::string noise;
  std::optional<Hello> hello;
  std::string rest;
};

/// Feeds the pieces as a caller does: bytes after the hello are not for the reader.
Read read(const Texts& pieces) {
  HelloReader reader(kNonce);
  Read result;
  for (const std::string& piece : pieces) {
    if (reader.hello()) {
      result.rest += piece;
      continue;
    }
    result.noise += reader.feed(piece);
    if (reader.hello()) result.rest = reader.rest();
  }
  result.hello = reader.hello();
  if (!result.hello) result.noise += reader.finish();
  return result;
}

void expect_ready(const Read& result, const std::string& noise, const std::string& rest) {
  EXPECT_EQ(result.noise, noise);
  ASSERT_TRUE(result.hello);
  EXPECT_EQ(result.hello->word, "ready");
  EXPECT_EQ(result.rest, rest);
}

TEST(HelloReader, ReadsTheWordsOfReady) {
  const Read result = read({kStart + "ready 10.0.0.1 4711 fe80::2 22 /tmp/a b\nout"});
  expect_ready(result, "", "out");
  EXPECT_EQ(result.hello->client_address, "10.0.0.1");
  EXPECT_EQ(result.hello->server_address, "fe80::2");
  EXPECT_EQ(result.hello->rest, "/tmp/a b");
}

TEST(HelloReader, ReadsHowTheHostCallsItself) {
  const Read result = read({kStart + "ready names=tpu-3,10.0.0.4,127.0.0.1,20010db8000000000000000000000003 "
                                     "10.0.0.1 4711 10.0.0.4 22 /tmp/a\n"});
  EXPECT_EQ(result.hello->names, (std::vector<std::string>{"tpu-3", "10.0.0.4", "2001:db8::3"}));
  EXPECT_EQ(result.hello->client_address, "10.0.0.1");
  EXPECT_EQ(result.hello->rest, "/tmp/a");
  std::string many = "ready names=";
  for (int i = 0; i < 1000; ++i) many += "a,";
  EXPECT_EQ(read({kStart + many + " - - - - /tmp/a\n"}).hello->names.size(), 64U);
  for (const char* words : {"names= - - - - /tmp/a", "names=, - - - - /tmp/a", "names - - - /tmp/a"})
    EXPECT_TRUE(read({kStart + "ready " + words + "\n"}).hello->names.empty()) << words;
}

TEST(HelloReader, TakesUnknownAddressesAsNone) {
  for (const char* words : {"ready - - - - ", "ready UNKNOWN 65535 UNKNOWN 65535 ", "ready"}) {
    const Read result = read({kStart + words + "\n"});
    expect_ready(result, "", "");
    EXPECT_EQ(result.hello->client_address, "");
    EXPECT_EQ(result.hello->server_address, "");
    EXPECT_EQ(result.hello->rest, "");
  }
}

TEST(HelloReader, TakesOnlyAnIpAddressForAnAddress) {
  for (const char* word : {"--evil=x", "tpu-0", "10.0.0", "10.0.0.1;id", "$(id)", "fe80::1%$(id)", "1:2"}) {
    const Read result = read({kStart + "ready " + word + " 1 " + word + " 22 /tmp/a\n"});
    expect_ready(result, "", "");
    EXPECT_EQ(result.hello->client_address, "");
    EXPECT_EQ(result.hello->server_address, "");
    EXPECT_EQ(result.hello->rest, "/tmp/a");
  }
}

TEST(HelloReader, ReadsARefusalWithItsDetails) {
  const Read result = read({kStart + "busy pid 12 (python 3) holds /dev/accel0\n"});
  ASSERT_TRUE(result.hello);
  EXPECT_EQ(result.hello->word, "busy");
  EXPECT_EQ(result.hello->rest, "pid 12 (python 3) holds /dev/accel0");
  EXPECT_EQ(result.hello->client_address, "");
}

TEST(HelloReader, TakesAnySplit) {
  const std::string noise = "Welcome\nto podrun1 0123\n";
  const std::string rest = "\npodrun1 x\n" + kStart + "ready\n";
  const std::string all = noise + kStart + "ready - - - - /d\n" + rest;
  for (std::size_t first = 0; first <= all.size(); ++first) {
    expect_ready(read({all.substr(0, first), all.substr(first)}), noise, rest);
  }
  Texts bytes;
  for (const char c : all) bytes.emplace_back(1, c);
  expect_ready(read(bytes), noise, rest);
}

TEST(HelloReader, GivesNoiseAtOnceUpToWhatMayBeTheHello) {
  HelloReader reader(kNonce);
  EXPECT_EQ(reader.feed("motd\n"), "motd");
  EXPECT_EQ(reader.feed("podrun1 "), "");
  EXPECT_EQ(reader.feed("x\n\n"), "\npodrun1 x\n");
  EXPECT_EQ(reader.feed("\n"), "\n");
  EXPECT_EQ(reader.feed("podrun1 0123456789abcdef"), "");
  EXPECT_EQ(reader.finish(), kStart.substr(0, kStart.size() - 1));
  EXPECT_EQ(reader.finish(), "");
  EXPECT_FALSE(reader.hello());
}

TEST(HelloReader, LosesNoByteOfNoiseThatLooksLikeAHello) {
  std::mt19937 random(1);
  const auto upto = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(random);
  };
  for (int round = 0; round < 3000; ++round) {
    std::string noise;
    for (std::size_t i = upto(6); i > 0; --i) {  // beginnings and ends of the hello's start, and any bytes
      const std::size_t cut = upto(kStart.size() - 1);
      noise += upto(1) != 0 ? kStart.substr(0, cut) : kStart.substr(cut + 1);
      if (upto(3) == 0) noise += static_cast<char>(upto(255));
    }
    if (noise.find(kStart) != std::string::npos) continue;
    const bool greets = upto(3) != 0;
    const std::string rest = "rest" + noise;
    std::string all = noise + (greets ? kStart + "ready - - - - \n" + rest : "");
    Texts pieces;
    while (!all.empty()) {
      const std::size_t size = 1 + upto(upto(1) != 0 ? 2 : 60);
      pieces.push_back(all.substr(0, size));
      all.erase(0, size);
    }
    if (greets) {
      expect_ready(read(pieces), noise, rest);
    } else {
      const Read result = read(pieces);
      EXPECT_FALSE(result.hello);
      EXPECT_EQ(result.noise, noise);
    }
  }
}

std::string too_long(const Texts& pieces) {
  try {
    read(pieces);
  } catch (const link::HostError& error) {
    return report::describe(error.failure());
  }
  return "no error";
}

TEST(HelloReader, RefusesALineWithoutEnd) {
  const std::string error = "hello: the supervisor's first line is too long";
  EXPECT_EQ(too_long({kStart + std::string(9000, 'x')}), error);
  EXPECT_EQ(too_long({kStart, std::string(4000, 'x'), std::string(4000, 'x'), std::string(4000, 'x')}),
            error);
  EXPECT_EQ(too_long({std::string(100000, 'x'), kStart + "ready " + std::string(8000, 'x') + "\n"}),
            "no error");
}

TEST(HelloReader, RefusesATooLongLineHoweverItIsSplit) {
  const std::string line = kStart + "busy " + std::string(9000, 'x');
  EXPECT_EQ(too_long({line, "\n"}), too_long({line + "\n"}));
}

const Preparation kPlaceTaken{link::Stage::run_directory, link::Cause::no_run_directory,
                              Chunk(std::string("exit 1"))};

Texts arguments(Supervision supervision) { return supervisor_program(supervision, "nonce").arguments; }

std::string flags(const Supervision& supervision) { return arguments(supervision)[6]; }

TEST(SupervisorProgram, HasTheArgumentsOfTheScript) {
  Supervision supervision{.mark = "id.7.", .suffix = "abc", .directory = "~/a b"};
  EXPECT_EQ(arguments(supervision), (Texts{"nonce", "id.7.", "10", "20", "7", "~/a b", "", "abc", ""}));
  supervision.run_directory = RunDirectory::yes;
  EXPECT_EQ(flags(supervision), "directory");
  supervision.input = StandardInput::fed;
  EXPECT_EQ(flags(supervision), "directory input");
  supervision.run_directory = RunDirectory::no;
  EXPECT_EQ(flags(supervision), "directory input");
  supervision.exit_status = ExitStatus::in_output;
  EXPECT_EQ(flags(supervision), "directory input exit-line");
  EXPECT_EQ(supervisor_program(supervision, "n").privilege, link::Privilege::user);
  supervision.privilege = link::Privilege::root;
  EXPECT_EQ(supervisor_program(supervision, "n").privilege, link::Privilege::root);
  EXPECT_EQ(holders_program(supervision, "n").privilege, link::Privilege::root);
}

TEST(SupervisorProgram, CutsTheOrphanTimeoutIntoTicks) {
  const auto ticks = [](int timeout) {
    const Texts words = arguments({.mark = "m", .orphan_timeout = seconds(timeout)});
    return words[3] + " x " + words[4];
  };
  EXPECT_EQ(ticks(0), "1 x 2");
  EXPECT_EQ(ticks(1), "1 x 2");
  EXPECT_EQ(ticks(5), "1 x 6");
  EXPECT_EQ(ticks(7), "1 x 8");
  EXPECT_EQ(ticks(12), "2 x 7");
  EXPECT_EQ(ticks(13), "2 x 8");
  EXPECT_EQ(ticks(120), "20 x 7");
  EXPECT_EQ(ticks(125), "20 x 8");
}

TEST(SupervisorProgram, NeverGivesUpBeforeTheOrphanTimeoutNorTwoTicksLater) {
  for (int timeout = 1; timeout <= 1000; ++timeout) {
    const Texts words = arguments({.mark = "m", .orphan_timeout = seconds(timeout)});
    const int tick = std::stoi(words[3]);
    const int count = std::stoi(words[4]);
    EXPECT_EQ(heartbeat_interval(seconds(timeout)), seconds(tick));
    EXPECT_GE(tick * (count - 1), timeout) << "the first tick may be nearly over at the last heartbeat";
    EXPECT_LT(tick * (count - 2), timeout);
    EXPECT_LE(tick * 5, std::max(timeout, 5)) << "room for a few lost heartbeats";
  }
}

TEST(SupervisorProgram, IsOneLineOfPlainText) {
  const Supervision plain{.mark = "m"};
  for (const Chunk& script : {supervisor_program(plain, "n").script, clean_up().script, feeder_script(),
                              holders_program(plain, "n").script}) {
    for (const char c : script.bytes()) EXPECT_TRUE(c >= ' ' && c <= '~') << static_cast<int>(c);
    EXPECT_LT(script.size(), 20U * 1024) << "a shell may read it byte by byte";
  }
}

TEST(SupervisorProgram, HasThePreparationsInTheirOrderAfterTheText) {
  const Supervision supervision{.mark = "m", .preparations = {clean_up(), kPlaceTaken}};
  const Texts words = supervisor_program(supervision, "n", "set -- true").arguments;
  ASSERT_EQ(words.size(), 11U);
  EXPECT_EQ(words[8], "set -- true");
  EXPECT_NE(words[9].find("libtpu"), std::string::npos);
  EXPECT_EQ(words[10], "exit 1");
}

TEST(SupervisorProgram, StartsNothingForTheRestOfACommand) {
  Supervision rest{.mark = "m", .run_directory = RunDirectory::yes, .subject = Supervise::rest};
  EXPECT_EQ(flags(rest), "rest");
}

TEST(HelperPrograms, HaveTheArgumentsOfTheirScripts) {
  EXPECT_EQ(holders_program({.mark = "m"}, "n").arguments, (Texts{"n", "m"}));
}

using Named = std::vector<Holder>;

Named named_in(std::string_view text) { return parse_holders(text).named; }

TEST(Holders, AreLinesOfPidAndName) {
  EXPECT_EQ(named_in("7 (sleep)\n12345 (a ) b (c)\n8 ()\n"),
            (Named{{"7", "sleep"}, {"12345", "a ) b (c"}, {"8", ""}}));
  EXPECT_EQ(named_in(""), Named());
  EXPECT_EQ(named_in("7 (sleep)"), Named()) << "cut off";
  EXPECT_EQ(named_in("motd\n\n7\n7 \n (x)\n7 (x\n-7 (x)\n7(x)\n7 (x) \n7 (x)1\n7 (x) y\n7 )x(\n9 (y)\n"),
            (Named{{"9", "y"}}));
}

TEST(Holders, TellWhichAreStuck) {
  EXPECT_EQ(named_in("7 (cat) 12\n8 (sleep)\n"), (Named{{"7", "cat", "12"}, {"8", "sleep"}}));
}

TEST(Holders, AreNamedAsTheyAre) {
  EXPECT_EQ(named_in(std::string("7 (a\0\x1b\xff\r)\n", 10)),
            (Named{{"7", std::string("a\0\x1b\xff\r", 5)}}));
}

TEST(Holders, AreAtMostAFew) {
  std::string text;
  Named first;
  for (int pid = 1; pid <= 1000; ++pid) {
    text += std::to_string(pid) + " (sleep)\n";
    if (pid > 8) continue;
    first.push_back({std::to_string(pid), "sleep"});
    EXPECT_EQ(parse_holders(text), (Holders{first, 0}));
  }
  EXPECT_EQ(parse_holders(text), (Holders{first, 992}));
  EXPECT_EQ(named_in("7 (" + std::string(1000, 'x') + ")\n"), Named()) << "no name is that long";
}

std::string refusal_of(const std::string& word, const std::string& rest) {
  const auto failure =
      refusal({.word = word, .client_address = "", .server_address = "", .rest = rest},
              {.mark = "m", .directory = "~/src", .preparations = {clean_up(), kPlaceTaken}});
  return failure ? report::describe(*failure) : "none";
}

TEST(Refusal, IsAStageAndWhatHappened) {
  EXPECT_EQ(refusal_of("ready", "/tmp/x"), "none");
  EXPECT_EQ(refusal_of("nodir", ""), "working directory: no such directory \"~/src\"");
  EXPECT_EQ(refusal_of("noentry", ""), "working directory: cannot enter \"~/src\"");
  EXPECT_EQ(refusal_of("notmp", "/var/tmp"),
            "run directory: cannot make one in \"/var/tmp\", in /dev/shm or in the home directory");
  EXPECT_EQ(refusal_of("noproc", ""),
            "supervision: no /proc there, and the process group belongs to another process: nothing could be "
            "stopped");
  EXPECT_EQ(refusal_of("what", "is this"), "hello: unexpected answer \"what is this\"");
}

TEST(Refusal, IsOfThePreparationThatFailed) {
  EXPECT_EQ(refusal_of("unprepared", "0 pid 1 (x) holds /dev/accel0"),
            "clean-up: pid 1 (x) holds /dev/accel0");
  EXPECT_EQ(refusal_of("unprepared", "1 /mnt"),
            "run directory: cannot make one in \"/mnt\", in /dev/shm or in the home directory");
  EXPECT_EQ(refusal_of("unprepared", "1 "), "run directory: cannot make one");
  for (const char* strange : {"", "2 x", "-1 x", "x", "0x x", "99999999999999999999 x"}) {
    EXPECT_EQ(refusal_of("unprepared", strange),
              fmt::format("hello: unexpected answer \"unprepared {}\"", strange));
  }
}

}  // namespace
}  // namespace podrun::supervisor
