// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

#include "podrun/hosts/host.hpp"
#include "podrun/link/link.hpp"
#include "podrun/output/output.hpp"
#include "podrun/run/input.hpp"
#include "podrun/run/run_policy.hpp"
#include "podrun/run/status.hpp"
#include "podrun/supervisor/command.hpp"
#include "podrun/supervisor/mark.hpp"
#include "podrun/supervisor/protocol.hpp"
#include "podrun/supervisor/supervised.hpp"

namespace podrun::run {

/// One command for all hosts.
struct RunPlan {
  std::string run_id;
  supervisor::RunKind kind = supervisor::RunKind::work;
  std::vector<hosts::Host> hosts;
  supervisor::RemoteCommand command;
  std::vector<std::string> texts_of_hosts = {};  ///< sh text before the command's; empty: none
  supervisor::Supervision supervision;           ///< each host gets its own mark, and the grace of `limits`
  Limits limits;
  int verbosity = 0;
};

/// Removes data for podrun from the standard output of the commands.
class OutputFilter {
 public:
  OutputFilter() = default;
  OutputFilter(const OutputFilter&) = delete;
  OutputFilter& operator=(const OutputFilter&) = delete;
  virtual ~OutputFilter() = default;

  /// Takes output; returns the bytes that are certainly the command's own, perhaps none.
  virtual Chunk pass(std::size_t host, Chunk bytes) = 0;
  /// Returns the bytes that pass() kept. Call when no more output follows.
  virtual Chunk finish(std::size_t host) = 0;
};

// The events of a run, for its user; report/ has the words. `host` is an index into the hosts of the run.
namespace notice {
using Connecting = OfHost<struct ConnectingOfHost>;
struct AttemptLater {
  std::size_t host;
  std::size_t attempt;  ///< the next one; the first was 1
  std::chrono::milliseconds delay;
  link::Failure failure;
};
using Ready = OfHost<struct ReadyOfHost>;
/// A held run waits: all hosts are ready or have failed.
struct Waiting {};
/// See action::Late. All output of the other hosts is written.
struct Late {
  std::vector<std::size_t> hosts;
};
struct Started {
  std::size_t host;
  bool with_supervisor;  ///< its command was sent with the supervisor
};
struct Signalled {
  std::size_t host;
  int signal;
};
using ToldToStop = OfHost<struct ToldToStopOfHost>;
struct Abandoned {
  std::size_t host;
  link::Failure failure;
};
struct CommandEnded {
  std::size_t host;
  std::variant<link::Exited, link::Signaled> end;
};
/// The command has ended and its output is still open.
struct OutputOpen {
  enum class Fate { waits, let_go, abandoned };  ///< waits: the run goes on for it
  std::size_t host;
  Fate fate;
  bool host_answers;            ///< to the question which processes have it open
  supervisor::Holders holders;  ///< the latest answer
};
/// The connection was lost after the command had ended.
struct LostAfterEnd {
  std::size_t host;
  link::Failure failure;
};
/// The last attempt failed, or the host was lost while the command ran.
struct Failed {
  std::size_t host;
  link::Failure failure;
};
/// The outcome of the host is known, and all of its output was passed on.
using HostEnded = OfHost<struct HostEndedOfHost>;
/// podrun has acted on the signal; `status` is the status after that.
struct Interrupted {
  int signal;
  Status status;
};
}  // namespace notice
using Notice = std::variant<notice::Connecting, notice::AttemptLater, notice::Ready, notice::Waiting,
                            notice::Late, notice::Started, notice::Signalled, notice::ToldToStop,
                            notice::Abandoned, notice::CommandEnded, notice::OutputOpen, notice::LostAfterEnd,
                            notice::Failed, notice::HostEnded, notice::Interrupted>;

/// The outside world of a run.
struct RunWorld {
  asio::any_io_executor executor;
  std::function<link::Connector&(const hosts::Host&)> connector_for;
  output::Output& output;
  Input* input = nullptr;       ///< for StandardInput::fed
  std::function<void()> leave;  ///< ends the process at once
  std::function<void(const Notice&)> tell;
  /// Optional: works with a host after its supervisor is up and before it is ready. Throws HostError.
  std::function<asio::awaitable<void>(std::size_t host, supervisor::Supervised&)> prepare_host = nullptr;
  link::Stage preparing = link::Stage::none;  ///< the stage of prepare_host
  OutputFilter* filter = nullptr;             ///< optional
  bool names_hosts = true;                    ///< false: the output is of others than the hosts of the run
  /// Optional: gets all bytes when they come over the network, and an empty text when reading goes on.
  std::function<void(std::size_t host, StreamId stream, std::string_view bytes)> on_received = nullptr;
};

}  // namespace podrun::run
