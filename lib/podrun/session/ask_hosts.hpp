// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
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

  // Copies: while late hosts are asked, more lines may arrive on the output thread.
  std::string of(std::size_t host) const { return copy(texts_[host]); }
  std::string errors_of(std::size_t host) const { return copy(errors_[host]); }

 protected:
  mutable std::mutex mutex_ = {};

 private:
  std::string copy(const std::string& text) const {
    const std::scoped_lock lock(mutex_);
    return text;
  }

  std::vector<std::string> texts_;
  std::vector<std::string> errors_;
  const std::size_t most_;
};

/// The output and the outcomes of one run.
struct Answers {
  std::vector<std::string> texts = {};  ///< standard output of each host of the run: lines, each with its end
  std::vector<std::string> errors = {};  ///< standard error of each host
  RunResult result = {};
  std::string shown = {};  ///< by ShowAnswers, the last time; is on the screen
};

/// The text for standard output, whole lines, of answers so far: hosts without one have no outcome.
using ShowAnswers = std::function<std::string(const Answers&)>;

/// Makes the run without showing its output, and prints which hosts did not answer. Keeps kMostOfAnswer.
/// `show`: while late hosts hold the run up, a terminal gets this text. Elsewhere an answer that is not
/// complete would be taken for one that is.
Answers ask_hosts(Session& session, const RunSpec& run, const ShowAnswers& show = nullptr);
/// Prints the text of complete answers, unless it is what was shown already. Returns the exit status: 1 when
/// it cannot be written.
int show_answers(Session& session, const Answers& answers, const std::string& text);

/// Makes the run, prints nothing, and returns all output, which is kept in memory until then.
Answers collect(Session& session, const RunSpec& run);

}  // namespace podrun::session
