// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <variant>

#include "podrun/link/link.hpp"
#include "podrun/run/status.hpp"
#include "podrun/supervisor/protocol.hpp"

// The events of a run, for its user; report/ has the words. `host` is an index into the hosts of the run.
namespace podrun::run {

namespace notice {
struct Connecting {
  std::size_t host;
};
struct AttemptLater {
  std::size_t host;
  std::size_t attempt;  ///< the next one; the first was 1
  std::chrono::milliseconds delay;
  link::Failure failure;
};
struct Ready {
  std::size_t host;
};
/// A held run waits: all hosts are ready or have failed.
struct Waiting {};
struct Started {
  std::size_t host;
  bool with_supervisor;  ///< its command was sent with the supervisor
};
struct Signalled {
  std::size_t host;
  int signal;
};
struct ToldToStop {
  std::size_t host;
};
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
struct HostEnded {
  std::size_t host;
};
/// podrun has acted on the signal; `status` is the status after that.
struct Interrupted {
  int signal;
  Status status;
};
}  // namespace notice
using Notice = std::variant<notice::Connecting, notice::AttemptLater, notice::Ready, notice::Waiting,
                            notice::Started, notice::Signalled, notice::ToldToStop, notice::Abandoned,
                            notice::CommandEnded, notice::OutputOpen, notice::LostAfterEnd, notice::Failed,
                            notice::HostEnded, notice::Interrupted>;

}  // namespace podrun::run
