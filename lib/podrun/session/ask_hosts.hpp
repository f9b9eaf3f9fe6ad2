// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "podrun/output/sink.hpp"
#include "podrun/session/session.hpp"

namespace podrun::session {

/// The most bytes of a stream of a host that podrun keeps of an answer to itself.
inline constexpr std::size_t kMostOfAnswer = 256 * 1024;

/// Collects the lines that each host prints, until a stream has `most` bytes.
class Replies : public output::Sink {
 public:
  explicit Replies(std::size_t hosts, std::size_t most = kMostOfAnswer)
      : texts_(hosts), errors_(hosts), most_(most) {}

  void line(const output::Line& line) override;

  const std::string& of(std::size_t host) const { return texts_[host]; }
  const std::string& errors_of(std::size_t host) const { return errors_[host]; }

 private:
  std::vector<std::string> texts_;
  std::vector<std::string> errors_;
  const std::size_t most_;
};

/// The output and the outcomes of one run.
struct Answers {
  std::vector<std::string> texts = {};  ///< standard output of each host of the run: lines, each with its end
  std::vector<std::string> errors = {};  ///< standard error of each host
  RunResult result = {};
};

/// Makes the run without showing its output, and prints which hosts did not answer. Keeps kMostOfAnswer.
Answers ask_hosts(Session& session, const RunSpec& run);

/// Makes the run, prints nothing, and returns all output, which is kept in memory until then.
Answers collect(Session& session, const RunSpec& run);

}  // namespace podrun::session
