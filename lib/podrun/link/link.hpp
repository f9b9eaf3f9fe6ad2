// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <asio/awaitable.hpp>

#include "podrun/base/chunk.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/link/failure.hpp"

// The seam between podrun and the transports that reach a host. Everything runs on the executor that made the
// Connector.
namespace podrun::link {

struct Received {
  StreamId stream;
  Chunk bytes;
};
struct Exited {
  int status = 0;  ///< 0 to 255
  /// Whether the program is not executable, or not found: 126 and 127 of sh(1).
  bool is_not_startable() const { return status == 126 || status == 127; }
  friend bool operator==(const Exited&, const Exited&) = default;
};
struct Signaled {
  int signal = 0;
  friend bool operator==(const Signaled&, const Signaled&) = default;
};
/// Both output streams have ended and the exit is known.
struct Closed {};

/// Received while there is output; Exited or Signaled once (background children may still write output
/// afterwards); then Closed. A Failure can come at any time and is the last event.
using StreamEvent = std::variant<Received, Exited, Signaled, Closed, Failure>;

/// One program that runs on a host. Destroying it abandons the program: its standard input ends, and its end
/// is not awaited.
class Stream {
 public:
  virtual ~Stream() = default;

  /// One call at a time. While it is not called, the host is slowed down (back-pressure) and nothing is lost.
  virtual asio::awaitable<StreamEvent> next() = 0;
  /// Writes the whole chunk to standard input, one call at a time; false if standard input is no longer read.
  virtual asio::awaitable<bool> write(Chunk chunk) = 0;
  /// Ends standard input at once.
  virtual void close_write() = 0;
  /// Abandons the program: the pending next() and every later one returns this failure.
  virtual void stop(Failure failure) = 0;
};

enum class Privilege { user, root };

/// A program for a host: POSIX sh text in one line, and its positional parameters. It is sent to the standard
/// input of a shell, so that neither appears in the arguments of a process on the host.
struct Program {
  Chunk script;  ///< shared by all hosts
  std::vector<std::string> arguments;
  Privilege privilege = Privilege::user;  ///< root: through `sudo -n`
};

/// The connection to one host. Destroying or stopping it abandons it and its streams without waiting.
class Link {
 public:
  virtual ~Link() = default;

  /// Connects and logs in. Throws HostError.
  virtual asio::awaitable<void> open() = 0;
  /// Starts a program; several may run at once. Throws HostError. Write nothing to the stream before the
  /// program has printed something: a shell that reads its text from standard input may read ahead.
  virtual asio::awaitable<std::shared_ptr<Stream>> exec(Program program) = 0;
  /// Connects to a port of the host itself, on its 127.0.0.1: the stream's output is what comes from there.
  /// Throws HostError, also where the transport cannot do it: only SSH can.
  virtual asio::awaitable<std::shared_ptr<Stream>> forward(std::uint16_t port);
  /// Ends a pending open(), exec() or forward() with this failure.
  virtual void stop(Failure failure) = 0;
  /// Whether open() made a connection that still lasts, so that a later run may use it. False if each
  /// program has its own connection.
  virtual bool is_connected() const { return false; }
  /// This machine's IP address on the connection to the host, after open(); empty: unknown.
  virtual std::string own_address() const { return {}; }
  /// The host's IP address as this machine, or the last jump host, is asked to reach it; empty: unknown.
  virtual std::string host_address() const { return {}; }
  /// Whether the transport uses exit statuses for its own failures too, and complains about those of a
  /// program. Such a program must print its status in its output and exit with 0.
  virtual bool mixes_statuses() const { return false; }
};

/// Makes links of one kind.
class Connector {
 public:
  virtual ~Connector() = default;
  virtual std::unique_ptr<Link> link(const hosts::Host& host) = 0;
};

/// The program as two lines for a shell that reads commands from standard input. The second one runs only if
/// all of it arrives: without its beginning or end it is a syntax error.
std::string shell_text(const Program& program);

/// Writes the parts of a text in small pieces, each after the previous one was sent. The text must stay alive
/// until then. False if the stream is no longer read.
asio::awaitable<bool> send_text(Stream& stream, std::vector<std::string_view> parts);

/// Sends shell_text() to a shell. If the shell does not take it, the stream reports the shell's end.
asio::awaitable<void> send_program(Stream& shell, const Program& program);

}  // namespace podrun::link
