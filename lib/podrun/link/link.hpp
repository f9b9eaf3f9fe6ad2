// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <asio/awaitable.hpp>

#include "podrun/base/chunk.hpp"
#include "podrun/base/stream_id.hpp"
#include "podrun/hosts/host.hpp"

// The seam between podrun and the ways to reach a host. Everything runs on the one executor that made the
// Connector.
namespace podrun {

/// Whether connecting once more may help: at once, or when the user has answered a question (a new host key,
/// a passphrase).
enum class Retry { no, may_help, after_asking };

/// Why a host could not be used or was lost: the stage it had reached and what happened there.
struct Failure {
  std::string stage;
  std::string what;
  Retry retry = Retry::no;

  friend bool operator==(const Failure&, const Failure&) = default;
};

/// A Failure on its way up; caught once per host, in the fan-out.
class HostError : public std::runtime_error {
 public:
  explicit HostError(Failure failure) : std::runtime_error(failure.what), failure_(std::move(failure)) {}
  const Failure& failure() const { return failure_; }

 private:
  Failure failure_;
};

struct Received {
  StreamId stream;
  Chunk bytes;
};
struct Exited {
  int status = 0;  ///< 0 to 255
  friend bool operator==(const Exited&, const Exited&) = default;
};
struct Signaled {
  int signal = 0;
  friend bool operator==(const Signaled&, const Signaled&) = default;
};
/// Both output streams are at their end and the exit is known.
struct Closed {};

/// Received while there is output, Exited or Signaled once (output may follow, from background children),
/// then Closed; a Failure at any time is the last.
using StreamEvent = std::variant<Received, Exited, Signaled, Closed, Failure>;

/// One program that runs on a host. Destroying it abandons the program: its standard input ends, nobody
/// waits.
class Stream {
 public:
  virtual ~Stream() = default;

  /// One call at a time. Not calling it is the back-pressure: the host is slowed down, nothing is lost.
  virtual asio::awaitable<StreamEvent> next() = 0;
  /// Writes all of it to standard input, one call at a time; false when nobody reads there any more.
  virtual asio::awaitable<bool> write(Chunk chunk) = 0;
  /// Ends standard input, at once.
  virtual void close_write() = 0;
  /// Abandons the program: the pending and every later next() is this failure.
  virtual void stop(Failure failure) = 0;
};

enum class Privilege { user, root };

/// A program for a host: POSIX sh text in one line, and its positional parameters. It travels on the standard
/// input of a shell, so that neither shows in the arguments of a process there.
struct Program {
  Chunk script;  ///< one for all hosts
  std::vector<std::string> arguments;
  Privilege privilege = Privilege::user;  ///< root: through `sudo -n`
};

/// The way to one host. Destroying it, or stop(), abandons it and its streams without waiting.
class Link {
 public:
  virtual ~Link() = default;

  /// Connects and logs in. Throws HostError.
  virtual asio::awaitable<void> open() = 0;
  /// Starts a program; several may run at once. Throws HostError. Nothing may be written to the stream before
  /// the program has said something: a shell that reads its text from standard input may read ahead.
  virtual asio::awaitable<std::shared_ptr<Stream>> exec(Program program) = 0;
  /// Ends whatever is pending in open() or exec() with this failure.
  virtual void stop(Failure failure) = 0;
  /// The IP address of this machine by which it has reached the host, after open(); empty: unknown.
  virtual std::string own_address() const { return {}; }
  /// Whether it also reports failures of its own by exit statuses, and complains about those of a program:
  /// then a program is to tell its status in its output and exit with 0.
  virtual bool mixes_statuses() const { return false; }
};

/// Makes links of one kind.
class Connector {
 public:
  virtual ~Connector() = default;
  virtual std::unique_ptr<Link> link(const Host& host) = 0;
};

}  // namespace podrun
