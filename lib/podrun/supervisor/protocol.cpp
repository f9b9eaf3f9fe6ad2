// SPDX-License-Identifier: Apache-2.0
// Composes the supervisor's arguments, and reads its hello, its list of processes and its line with the exit
// status. That line starts with "~", which output hardly ever ends in, so that other output is neither copied
// nor delayed.
#include "podrun/supervisor/protocol.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "podrun/base/text.hpp"
#include "podrun/supervisor/scripts.hpp"

namespace podrun::supervisor {
namespace {

constexpr std::size_t kMaxHello = 8 * 1024;
constexpr std::size_t kMaxNames = 64;
constexpr std::size_t kMaxHolders = 8;
constexpr std::size_t kMaxHolder =
    64;  // bytes; the kernel has at most 15 of a name, 7 digits of a pid, 20 of a count

/// The names of flags in main.sh.
std::string flags(const Supervision& supervision) {
  if (supervision.subject == Supervise::rest) return "rest";
  const bool fed = supervision.input == StandardInput::fed;
  std::vector<std::string_view> words;
  if (fed || supervision.run_directory == RunDirectory::yes) words.emplace_back("directory");
  if (fed) words.emplace_back("input");
  if (supervision.exit_status == ExitStatus::in_output) words.emplace_back("exit-line");
  if (supervision.tell_names == TellNames::yes) words.emplace_back("names");
  return fmt::format("{}", fmt::join(words, " "));
}

/// Only an IP address, since commands on other hosts may get this text of the host (PODRUN_HOST0).
std::string address(std::string_view word) {
  std::string text(word);
  in6_addr unused{};
  const bool is_address =
      ::inet_pton(AF_INET, text.c_str(), &unused) == 1 || ::inet_pton(AF_INET6, text.c_str(), &unused) == 1;
  return is_address && text.find('\0') == text.npos ? text : "";
}

/// `pid (name)`, `pid (name) switches`
std::optional<Holder> parse_holder(std::string_view line) {
  const std::size_t digits = line.find_first_not_of(kDigits);
  const std::size_t end = line.rfind(')');
  if (line.size() > kMaxHolder || digits == 0 || digits == line.npos || end == line.npos) return std::nullopt;
  if (!line.substr(digits).starts_with(" (")) return std::nullopt;
  std::string_view switches = line.substr(end + 1);
  if (!switches.empty()) {
    switches.remove_prefix(1);
    if (line[end + 1] != ' ' || switches.empty() || switches.find_first_not_of(kDigits) != switches.npos)
      return std::nullopt;
  }
  return Holder{std::string(line.substr(0, digits)), std::string(line.substr(digits + 2, end - digits - 2)),
                std::string(switches)};
}

/// `NUMBER WORDS`: the preparation that failed, and what it said last.
std::optional<link::Failure> failed_preparation(std::string_view rest,
                                                const std::vector<Preparation>& preparations) {
  const std::optional<std::size_t> number = to_number(take_part(rest, ' '));
  if (!number || *number >= preparations.size()) return std::nullopt;
  return link::Failure{preparations[*number].stage, preparations[*number].cause, std::string(rest)};
}

/// An IPv6 address is 32 hexadecimal digits, as in /proc/net/if_inet6.
std::string own_name(std::string_view word) {
  if (word.size() != 32 || word.find_first_not_of("0123456789abcdef") != word.npos) return std::string(word);
  std::string groups;
  for (std::size_t at = 0; at < word.size(); at += 4)
    groups += (at == 0 ? "" : ":") + std::string(word.substr(at, 4));
  in6_addr binary{};
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (::inet_pton(AF_INET6, groups.c_str(), &binary) != 1) return groups;
  return ::inet_ntop(AF_INET6, &binary, text.data(), text.size());
}

/// `names=tpu-3,10.0.0.4`; an empty name is left out, and so are those beyond kMaxNames.
std::vector<std::string> own_names(std::string_view word) {
  std::vector<std::string> names;
  for (take_part(word, '='); !word.empty() && names.size() < kMaxNames;) {
    const std::string_view name = take_part(word, ',');
    if (!name.empty() && !name.starts_with("127.")) names.push_back(own_name(name));
  }
  return names;
}

Hello parse_hello(std::string_view line) {
  Hello hello;
  hello.word = take_part(line, ' ');
  if (hello.word == "ready") {
    if (line.starts_with("names=")) hello.names = own_names(take_part(line, ' '));
    // The words of $SSH_CONNECTION, see ssh(1).
    hello.client_address = address(take_part(line, ' '));
    take_part(line, ' ');
    hello.server_address = address(take_part(line, ' '));
    take_part(line, ' ');
  }
  hello.rest = line;
  return hello;
}

constexpr char kFirst = '~';
constexpr std::size_t kMaxDigits = 3;
constexpr int kMaxStatus = 255;

/// memmem(3) skips over most of the text; string_view::find compares at every `~`.
std::size_t position_of(std::string_view text, std::string_view what, std::size_t from) {
  const void* found = ::memmem(text.data() + from, text.size() - from, what.data(), what.size());
  return found ? static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) : text.npos;
}

}  // namespace

Preparation clean_up() {
  static const Chunk script{std::string(kCleanUpScript)};
  return {link::Stage::clean_up, link::Cause::clean_up_failed, script};
}

std::chrono::seconds heartbeat_interval(std::chrono::seconds orphan_timeout) {
  return std::max(std::chrono::seconds(1), orphan_timeout / 6);
}

link::Program supervisor_program(const Supervision& supervision, std::string_view nonce,
                                 std::string_view text) {
  static const Chunk script{std::string(kSupervisorScript)};
  const std::chrono::seconds tick = heartbeat_interval(supervision.orphan_timeout);
  // One tick more, since the first may be nearly over when the last heartbeat arrives.
  const auto ticks = 1 + std::max<std::chrono::seconds::rep>(
                             1, (supervision.orphan_timeout + tick - std::chrono::seconds(1)) / tick);
  std::vector<std::string> preparations;
  for (const Preparation& preparation : supervision.preparations)
    preparations.emplace_back(preparation.script.bytes());
  SupervisorWords words{.nonce = std::string(nonce),
                        .mark = supervision.mark,
                        .grace = std::to_string(supervision.grace.count()),
                        .tick = std::to_string(tick.count()),
                        .ticks = std::to_string(ticks),
                        .cwd = supervision.directory,
                        .flags = flags(supervision),
                        .suffix = supervision.suffix,
                        .line = std::string(text),
                        .preparations = std::move(preparations)};
  return {script, std::move(words).list(), supervision.privilege};
}

const Chunk& feeder_script() {
  static const Chunk script{std::string(kFeederScript)};
  return script;
}

link::Program holders_program(const Supervision& supervision, std::string_view nonce) {
  static const Chunk script{std::string(kHoldersScript)};
  return {script, HoldersWords{.nonce = std::string(nonce), .mark = supervision.mark}.list(),
          supervision.privilege};
}

Holders parse_holders(std::string_view text) {
  Holders holders;
  for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
    auto holder = parse_holder(text.substr(0, end));
    if (!holder) continue;
    if (holders.named.size() < kMaxHolders) {
      holders.named.push_back(std::move(*holder));
    } else {
      ++holders.more;
    }
  }
  return holders;
}

std::optional<link::Failure> refusal(const Hello& hello, const Supervision& supervision) {
  using link::Cause;
  using link::Failure;
  using link::Stage;
  if (hello.word == "ready") return std::nullopt;
  if (hello.word == "nodir")
    return Failure{Stage::working_directory, Cause::no_such_directory, supervision.directory};
  if (hello.word == "noentry")
    return Failure{Stage::working_directory, Cause::directory_not_entered, supervision.directory};
  if (hello.word == "notmp") return Failure{Stage::run_directory, Cause::no_run_directory, hello.rest};
  if (hello.word == "noproc") return Failure{Stage::supervision, Cause::no_process_list};
  if (hello.word == "notool") return Failure{Stage::supervision, Cause::program_missing, hello.rest};
  if (hello.word == "unprepared") {
    if (auto failure = failed_preparation(hello.rest, supervision.preparations)) return failure;
  }
  return Failure{Stage::hello, Cause::unexpected_answer, fmt::format("{} {}", hello.word, hello.rest)};
}

bool is_refusal(const link::Failure& failure) {
  using link::Stage;
  return (failure.stage == Stage::starting_shell && failure.cause == link::Cause::ended_early) ||
         failure.stage == Stage::working_directory || failure.stage == Stage::run_directory ||
         failure.stage == Stage::clean_up || failure.stage == Stage::supervision ||
         (failure.stage.own() && failure.stage.own()->is_answer);
}

HelloReader::HelloReader(std::string_view nonce) : start_(fmt::format("\npodrun1 {} ", nonce)) {}

std::string HelloReader::feed(std::string_view bytes) {
  held_ += bytes;
  const std::size_t start = held_.find(start_);
  if (start == std::string::npos) {
    // A prefix of the start may stand at the very end.
    std::size_t keep = std::min(held_.size(), start_.size() - 1);
    while (std::string_view(start_).substr(0, keep) != std::string_view(held_).substr(held_.size() - keep))
      --keep;
    std::string noise = held_.substr(0, held_.size() - keep);
    held_.erase(0, noise.size());
    return noise;
  }
  std::string noise = held_.substr(0, start);
  held_.erase(0, start);
  const std::size_t end = std::min(held_.find('\n', start_.size()), held_.size());
  if (end > kMaxHello)
    throw link::HostError(
        {link::Stage::hello, link::Cause::protocol_error, "the supervisor's first line is too long"});
  if (end < held_.size()) {
    hello_ = parse_hello(std::string_view(held_).substr(start_.size(), end - start_.size()));
    held_.erase(0, end + 1);
  }
  return noise;
}

std::string HelloReader::finish() { return std::exchange(held_, {}); }

ExitLineReader::ExitLineReader(std::string_view nonce)
    : start_(fmt::format("{}podrun1 {} exit ", kFirst, nonce)) {}

Chunk ExitLineReader::feed(Chunk chunk) {
  const std::string_view bytes = chunk.bytes();
  if (is_repeated_ ||
      (held_.empty() && position_of(bytes, start_, 0) == bytes.npos && possible_start(bytes) == bytes.size()))
    return chunk;
  std::string text = std::exchange(held_, {}).append(bytes);
  const std::size_t after = take_line(text);
  if (!is_repeated_) {
    const std::size_t start = after + possible_start(std::string_view(text).substr(after));
    held_ = text.substr(start);
    text.resize(start);
  }
  return Chunk(std::move(text));
}

Chunk ExitLineReader::finish() { return Chunk(std::exchange(held_, {})); }

/// Takes the first line out, and sees a second one, which stays. Returns where the text after the first one
/// begins: what stands before it belongs to no line any more.
std::size_t ExitLineReader::take_line(std::string& text) {
  std::size_t after = 0;
  for (std::size_t at = 0, next = 0; (at = position_of(text, start_, next)) != text.npos;) {
    next = at + 1;
    const std::size_t begin = at + start_.size();
    const std::size_t end = text.find_first_not_of(kDigits, begin);
    if (end == text.npos) break;
    if (text[end] != '\n' || end == begin || end - begin > kMaxDigits) continue;
    const int status = std::stoi(text.substr(begin, end - begin));
    if (status > kMaxStatus) continue;
    is_repeated_ = status_.has_value();
    if (is_repeated_) break;
    status_ = status;
    text.erase(at, end + 1 - at);
    after = next = at;
  }
  return after;
}

/// Where the end of the text may be the beginning of the line; else its size.
std::size_t ExitLineReader::possible_start(std::string_view text) const {
  const std::size_t longest = start_.size() + kMaxDigits;
  std::size_t at = text.size() - std::min(text.size(), longest);
  while ((at = text.find(kFirst, at)) != text.npos) {
    const std::string_view end = text.substr(at);
    const std::string_view digits = end.substr(std::min(end.size(), start_.size()));
    if (start_.starts_with(end.substr(0, start_.size())) && digits.find_first_not_of(kDigits) == digits.npos)
      return at;
    ++at;
  }
  return text.size();
}

}  // namespace podrun::supervisor
