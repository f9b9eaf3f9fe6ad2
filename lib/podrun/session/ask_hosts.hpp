// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "podrun/output/sink.hpp"
#include "podrun/session/session.hpp"

namespace podrun::session {

/// Collects what each host prints, up to 256 KiB of each stream.
class Replies : public output::Sink {
 public:
  explicit Replies(std::size_t hosts) : texts_(hosts), errors_(hosts) {}

  void line(const output::Line& line) override;

  const std::string& of(std::size_t host) const { return texts_[host]; }
  const std::string& errors_of(std::size_t host) const { return errors_[host]; }

 private:
  std::vector<std::string> texts_;
  std::vector<std::string> errors_;
};

/// The answers of the hosts to one run.
struct Answers {
  std::vector<std::string> texts = {};   ///< of each host of the run, its standard output up to 256 KiB
  std::vector<std::string> errors = {};  ///< its standard error, also up to 256 KiB
  RunResult result = {};
};

/// Makes the run, shows nothing of its output, and names the hosts that did not answer.
Answers ask_hosts(Session& session, const RunSpec& run);

}  // namespace podrun::session
