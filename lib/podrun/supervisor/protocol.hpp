// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/base/chunk.hpp"
#include "podrun/base/defaults.hpp"
#include "podrun/link/link.hpp"

// The protocol between podrun and the supervisor on a host (main.sh), version 1. Pure.
namespace podrun::supervisor {

enum class StandardInput { empty, fed };
enum class RunDirectory { no, yes };
/// How podrun gets the exit status of the command: as that of the supervisor, or by a line at the end of the
/// output, `~podrun1 <nonce> exit <status>\n`. If that line cannot be written, as that of the supervisor.
enum class ExitStatus { own, in_output };
/// Whether the hello says how the host calls itself.
enum class TellNames { no, yes };
/// rest: supervises the processes that an ended command left; starts nothing.
enum class Supervise { command, rest };

/// sh text that must succeed on a host before it is ready, in a subshell of the supervisor and with no input.
/// One that fails makes the host not ready: by this stage, which names it, this cause, and its last line.
struct Preparation {
  link::Stage stage;  ///< one of is_refusal()
  link::Cause cause;
  Chunk script;
};

/// `-c`: removes what an earlier run left on a TPU host.
Preparation clean_up();

/// How one host's command is supervised.
struct Supervision {
  std::string mark;         ///< make_mark(): in the environment of everything the command starts
  std::string suffix = {};  ///< ends the names of podrun's files on the host, which everybody there can see
  std::chrono::seconds grace = kDefaultGrace;
  std::chrono::seconds orphan_timeout = kDefaultOrphanTimeout;
  std::string directory = {};  ///< empty: where a login starts; a leading `~/` is the home there
  StandardInput input = StandardInput::empty;
  std::vector<Preparation> preparations = {};     ///< in this order
  RunDirectory run_directory = RunDirectory::no;  ///< needed for files; `fed` has one anyway
  link::Privilege privilege = link::Privilege::user;
  ExitStatus exit_status = ExitStatus::own;
  TellNames tell_names = TellNames::no;
  Supervise subject = Supervise::command;
};

/// A process that may have the output of an ended command open.
struct Holder {
  std::string pid;
  std::string name;
  /// In uninterruptible sleep: its voluntary context switches. While they do not change, no signal reaches
  /// it.
  std::string stuck_at = {};
  friend bool operator==(const Holder&, const Holder&) = default;
};
struct Holders {
  std::vector<Holder> named;  ///< the first eight
  std::size_t more = 0;
  friend bool operator==(const Holders&, const Holders&) = default;
};

/// Seconds between heartbeats; the supervisor gives up after orphan_timeout / this many without one.
std::chrono::seconds heartbeat_interval(std::chrono::seconds orphan_timeout);

/// `nonce`: begins the lines that are meant for podrun; nobody else may learn it.
/// `text`: starts the command at once, without `go`; empty: waits for it.
link::Program supervisor_program(const Supervision& supervision, std::string_view nonce,
                                 std::string_view text = {});
/// Copies standard input to a file or FIFO on the host, whose path is its argument. It begins with helper.sh.
const Chunk& feeder_script();
/// Prints a line for each process of the command that may hold its output open, after its own hello.
link::Program holders_program(const Supervision& supervision, std::string_view nonce);

/// The lines `pid (name)` or `pid (name) 123`, see stuck_at, in what it prints after the hello. A name has
/// any bytes but newlines; other lines are left out.
Holders parse_holders(std::string_view text);

/// The first line of a supervisor or feeder: `\npodrun1 <nonce> <word> …\n`.
struct Hello {
  std::string word;                     ///< `ready`, or a word for the refusal
  std::string client_address;           ///< an IP address: podrun's, as the host sees it; empty: unknown
  std::string server_address;           ///< an IP address: the host's end of the connection; empty: unknown
  std::string rest;                     ///< ready: the run's directory; else: details
  std::vector<std::string> names = {};  ///< TellNames::yes: the host's name and addresses
};

/// The failure that a refusal means; none if the hello is `ready`.
std::optional<link::Failure> refusal(const Hello& hello, const Supervision& supervision);

/// Whether the host was reached, and it was its answer, or the end of its shell, that kept the command from
/// starting.
bool is_refusal(const link::Failure& failure);

/// Finds the hello in the output of a host: before it stands the output of its rc files, after it that of the
/// command.
class HelloReader {
 public:
  explicit HelloReader(std::string_view nonce);

  /// Takes bytes; returns those that are certainly no part of the hello. Once hello() is set, rest() is
  /// output.
  std::string feed(std::string_view bytes);
  /// The bytes that feed() kept, when no more follow.
  std::string finish();
  const std::optional<Hello>& hello() const { return hello_; }
  const std::string& rest() const { return held_; }

 private:
  std::string start_;  // "\npodrun1 <nonce> "
  std::string held_;
  std::optional<Hello> hello_;
};

/// Takes `~podrun1 <nonce> exit <status>\n` out of the output of a command (ExitStatus::in_output), wherever
/// it stands and however it arrives in pieces. All other bytes stay as they are. Pure.
class ExitLineReader {
 public:
  explicit ExitLineReader(std::string_view nonce);

  /// Takes output; returns the bytes that certainly belong to the command, perhaps none.
  Chunk feed(Chunk chunk);
  /// The bytes that feed() kept, when no more output follows.
  Chunk finish();
  /// 0 to 255, once the line was there.
  const std::optional<int>& status() const { return status_; }
  /// Whether another such line followed, so that somebody has learnt the nonce: no status can be believed.
  bool is_repeated() const { return is_repeated_; }

 private:
  std::size_t take_line(std::string& text);
  std::size_t possible_start(std::string_view text) const;

  std::string start_;  // "~podrun1 <nonce> exit "
  std::string held_;   // may be the beginning of the line
  std::optional<int> status_;
  bool is_repeated_ = false;
};

}  // namespace podrun::supervisor
