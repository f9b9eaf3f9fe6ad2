// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <asio/awaitable.hpp>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/probe.hpp"
#include "podrun/output/line_splitter.hpp"
#include "podrun/output/output.hpp"
#include "podrun/report/status_line_words.hpp"

// The log of a job that this machine keeps for other hosts. Its lines are those of output::Label::stored, and
// the files of job_state.sh say whose they are and what the hosts do.
namespace podrun::jobs {

/// The place of a job of this machine, see job_state.sh.
inline constexpr std::string_view kPlaceOfThisMachine = "0-local";

/// Notes the hosts of a kept run in the directory of its job. A failure is ignored: its log is shown as it
/// is.
void note_hosts(const std::string& directory, const std::vector<hosts::Host>& hosts);

/// A kept run whose log is shown.
struct KeptLog {
  std::string directory = {};           ///< of this start of the job
  std::vector<hosts::Host> hosts = {};  ///< whose output it has
};
/// Null: there is no such start here, or its hosts are not known yet.
std::optional<KeptLog> find_kept_log(const hosts::Probe& probe, const std::string& name, std::uint64_t start);

/// What the hosts of a kept run do now, in the words of the podrun that runs it. Null: it has said nothing.
std::optional<report::OwnWords> words_of_kept_run(const hosts::Probe& probe, const KeptLog& log);

/// Passes the log on as the output of its hosts, and the other lines as podrun's own.
class KeptLines {
 public:
  /// `is_stamped`: each line has a time of LogTimes in front.
  KeptLines(const std::vector<hosts::Host>& hosts, bool is_stamped);

  /// Bytes of a stream of the log, in order.
  void pass_on(StreamId stream, std::string_view bytes, output::Output& output);
  /// Waits for room for what the last bytes were.
  asio::awaitable<void> wait_for_room(output::Output& output);
  /// No more bytes follow: the rest of a line, and the end of all hosts.
  void end(output::Output& output);

 private:
  void pass_on_line(std::string_view line, output::Output& output);

  std::map<std::size_t, std::size_t> indexes_ = {};  ///< of the hosts, by worker number
  const bool is_stamped_;
  std::array<output::LineSplitter, kStreams> lines_;
};

}  // namespace podrun::jobs
