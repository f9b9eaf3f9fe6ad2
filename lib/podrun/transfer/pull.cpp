// SPDX-License-Identifier: Apache-2.0
// The conversation of a pull with each host: the host lists its paths, gets the names of the missing ones,
// and answers with archives. Work that waits for the local disk is done on a thread.
#include "podrun/transfer/pull.hpp"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <system_error>
#include <utility>

#include <asio/this_coro.hpp>
#include <fmt/format.h>

#include "podrun/base/at_end.hpp"
#include "podrun/base/expect.hpp"
#include "podrun/base/text.hpp"
#include "podrun/hosts/host_name.hpp"
#include "podrun/transfer/scripts.hpp"
#include "podrun/transfer/side_work.hpp"
#include "podrun/transfer/transfer_failures.hpp"

namespace podrun::transfer {
namespace {

using link::Cause;
using link::HostError;

/// Allowed growth: a host may send this much more than it has listed, since files grow meanwhile.
constexpr std::uint64_t kGrowth = 64 * 1024 * 1024;
constexpr std::uint64_t kGrowthPart = 8;
constexpr std::uint64_t kMostSize = std::uint64_t{1} << 60U;

/// The bytes that the user may still write there.
std::uint64_t free_space(const std::string& directory) {
  struct statvfs status {};
  if (::statvfs(directory.c_str(), &status) != 0)
    throw LocalWriteError(fmt::format("{}: {}", directory, errno_text()));
  return std::uint64_t{status.f_bavail} * status.f_frsize;
}

std::uint64_t saturating_sum(std::uint64_t one, std::uint64_t other) {
  return other > UINT64_MAX - one ? UINT64_MAX : one + other;
}

/// A line that says why this path was not sent: a line that names it, else the first that is not just a
/// remark.
std::string_view reason_for(std::string_view path, std::string_view said) {
  std::string_view first;
  for (const std::string_view line : split(said, '\n')) {
    const bool is_remark = line.empty() || line.find("file changed as we read it") != line.npos ||
                           line.find("leading `") != line.npos;
    if (is_remark) continue;
    if (line.find(path) != line.npos) return without_program(line);
    if (first.empty()) first = without_program(line);
  }
  return first;
}

/// A file that has become shorter: GNU tar fills it up, so that it looks complete. Empty: none.
std::string_view shrunk_file(std::string_view said) {
  for (const std::string_view line : split(said, '\n')) {
    if (line.find(": File shrank by ") != line.npos) return without_program(line);
  }
  return {};
}

/// Says what is missing, and why; empty if everything arrived.
std::string describe_missing(const std::vector<const ListedPath*>& missing, std::string_view problem,
                             std::string_view said) {
  if (missing.empty()) return std::string(shrunk_file(said));
  const std::string_view name = archive_name(*missing.front());
  std::string_view why = reason_for(name, said);
  if (why.empty()) why = problem.empty() ? "it was not sent" : problem;
  const std::string more = missing.size() > 1 ? fmt::format(" (and {} more)", missing.size() - 1) : "";
  if (why.find(name) != why.npos) return fmt::format("{}{}{}", why, doubt_of_name(name), more);
  return fmt::format("{}: {}{}{}", name, why, doubt_of_name(name), more);
}

}  // namespace

/// The state of the copy from one host.
struct Pull::Copy {
  std::size_t host;
  supervisor::Supervised& supervised;
  PulledHost& pulled;
  ListedPaths listed = {};
  std::optional<PulledDirectory> directory = std::nullopt;
  Wanted wanted = {};        ///< the listed paths that are not here
  std::uint64_t free = 0;    ///< bytes here
  std::string missing = {};  ///< says what is missing, and why; empty if everything arrived
};

Pull::Pull(PullRequest request, std::vector<hosts::Host> hosts)
    : request_(std::move(request)), hosts_(std::move(hosts)), pulled_(hosts_.size()) {
  for (const std::string& word : request_.words) words_.push_back(pull_word(word));
}

std::string Pull::directory_of(std::size_t host) const {
  if (request_.is_flat) return request_.destination;
  const bool has_slash = request_.destination.ends_with('/');
  return fmt::format("{}{}{}", request_.destination, has_slash ? "" : "/",
                     hosts::host_file_name(hosts_[host]));
}

std::string Pull::prefix_of(std::size_t host) const {
  return request_.is_flat && hosts_.size() > 1 ? hosts::host_file_name(hosts_[host]) + '-' : "";
}

asio::awaitable<void> Pull::prepare(std::size_t host, supervisor::Supervised& supervised) {
  expect(host < hosts_.size() && !pulled_[host].is_active, "one copy at a time from a host of the run");
  pulled_[host] = {};
  Copy copy{host, supervised, pulled_[host]};
  std::exception_ptr error;
  try {
    co_await copy_all(copy);
  } catch (const LocalWriteError& failure) {
    error = std::make_exception_ptr(HostError({kCopying, kLocalFileFailed, failure.what()}));
  } catch (const std::system_error& failure) {
    error = std::make_exception_ptr(HostError({kCopying, Cause::local_limit, failure.what()}));
  } catch (...) {
    error = std::current_exception();
  }
  pulled_[host].is_active = false;
  if (!error) co_return;
  if (!request_.is_flat && !request_.only_look) ::rmdir(directory_of(host).c_str());  // if nothing has come
  std::rethrow_exception(error);
}

asio::awaitable<void> Pull::copy_all(Copy& copy) {
  co_await list(copy);
  co_await compare(copy);
  check_size(copy);
  if (request_.only_look) {
    copy.pulled.files = copy.wanted.size();
    copy.pulled.bytes = copy.pulled.total;
    for (const ListedPath* path : copy.wanted)
      copy.pulled.chosen.push_back(prefix_of(copy.host) + std::string(path->path()));
  } else {
    copy.pulled.is_active = true;
    std::function<void()> make_directories = [&copy] {
      for (const ListedPath& path : copy.listed.listing.paths)
        if (path.kind == Kind::directory) copy.directory->make_directory(path);
    };
    co_await run_on_thread(std::move(make_directories));
    std::string home = "home";  // named: g++ 12 destroys a temporary here twice
    co_await receive(copy, std::move(home));
    std::string root = "/";
    co_await receive(copy, std::move(root));
    std::function<void()> set_times = [&copy] {
      for (const ListedPath& path : copy.listed.listing.paths)
        if (path.kind == Kind::directory) copy.directory->set_time(path);
    };
    co_await run_on_thread(std::move(set_times));
  }
  check_complete(copy.listed, request_.words);
  if (!copy.missing.empty()) throw HostError({kCopying, kNotCopied, copy.missing});
}

asio::awaitable<void> Pull::list(Copy& copy) {
  ListRequest request{.words = words_, .max_files = request_.max_files};
  copy.listed = co_await list_paths(copy.supervised, std::move(request));
  if (request_.is_flat) {
    std::function<void()> check = [&] { check_names(copy.listed.listing, words_); };
    co_await run_on_thread(std::move(check));
  }
  copy.pulled.special = copy.listed.listing.special;
}

/// Finds out what is not here.
asio::awaitable<void> Pull::compare(Copy& copy) {
  // The user's own directory may be a link; a host's directory must not.
  const std::string path = directory_of(copy.host) + (request_.is_flat ? "/." : "");
  const auto missing = request_.only_look ? PulledDirectory::Missing::leave : PulledDirectory::Missing::make;
  std::size_t leaves = 0;
  std::function<void()> look = [&] {
    copy.directory.emplace(path, missing, prefix_of(copy.host));
    for (const ListedPath& each : copy.listed.listing.paths) {
      if (each.kind == Kind::directory) continue;
      ++leaves;
      if (!copy.directory->has(each)) copy.wanted.push_back(&each);
    }
    if (missing == PulledDirectory::Missing::make) copy.free = free_space(path);
  };
  co_await run_on_thread(std::move(look));
  copy.pulled.unchanged = leaves - copy.wanted.size();
  for (const ListedPath* each : copy.wanted) {
    if (each->kind == Kind::file) copy.pulled.total = saturating_sum(copy.pulled.total, each->size);
  }
  copy.pulled.is_listed = true;
}

void Pull::check_size(const Copy& copy) const {
  const std::uint64_t total = copy.pulled.total;
  if (request_.max_size && total > *request_.max_size) {
    throw HostError({kCopying, kTooLarge,
                     fmt::format("{} to copy: more than --max-size {}", format_bytes(total),
                                 format_bytes(*request_.max_size))});
  }
  if (request_.only_look) return;  // the destination may not be there yet
  std::uint64_t others = 0;
  for (const PulledHost& each : pulled_) {
    if (each.is_active) others = saturating_sum(others, each.total - std::min(each.total, each.received));
  }
  const std::uint64_t free = copy.free - std::min(copy.free, others);
  if (total <= free) return;
  throw HostError({kCopying, kTooLarge,
                   fmt::format("{} to copy: more than the {} that are free in {}", format_bytes(total),
                               format_bytes(free), request_.destination)});
}

/// The most bytes of files that a host may send.
std::uint64_t Pull::most_bytes(const Copy& copy) const {
  const std::uint64_t listed = std::min(copy.pulled.total, kMostSize);
  const std::uint64_t most =
      request_.max_size ? std::min(*request_.max_size, kMostSize) : listed + listed / kGrowthPart + kGrowth;
  return most - std::min(most, copy.pulled.bytes);
}

/// Copies the files below the home directory, or the files with absolute names.
asio::awaitable<void> Pull::receive(Copy& copy, std::string place) {
  static const Chunk script{std::string(kPullSendScript)};
  const bool is_checked = copy.listed.listing.is_shared;
  Wanted wanted;
  std::string names;
  for (const ListedPath* path : copy.wanted) {
    if (path->host_path.starts_with('/') != (place == "/")) continue;
    wanted.push_back(path);
    const Identity& known = path->identity;
    if (is_checked) names += fmt::format("{}:{}:{} ", known.device, known.inode, known.owner);
    names += fmt::format("./{}", archive_name(*path));
    names += '\0';
  }
  if (wanted.empty()) co_return;
  std::vector<std::string> words =
      PullSendWords{.place = std::move(place), .program = std::string(is_checked ? kPullCheckedScript : "")}
          .list();
  supervisor::StartedProgram program = co_await copy.supervised.start_program(script, std::move(words));
  supervisor::ProgramReader reader(std::move(program));
  asio::awaitable<void> unpacking = unpack_part(copy, reader, wanted);
  co_await send_while(reader.stream(), std::move(names), std::move(unpacking));
}

asio::awaitable<void> Pull::unpack_part(Copy& copy, supervisor::ProgramReader& reader, const Wanted& wanted) {
  Unpacked unpacked;
  std::exception_ptr error;
  try {
    co_await feed(copy, reader, wanted, unpacked);
  } catch (...) {
    error = std::current_exception();
  }
  Wanted missing;
  for (std::size_t place = 0; place < wanted.size(); ++place) {
    if (place >= unpacked.arrived.size() || !unpacked.arrived[place]) {
      missing.push_back(wanted[place]);
      continue;
    }
    ++copy.pulled.files;
    if (wanted[place]->kind == Kind::file) copy.pulled.bytes += wanted[place]->size;
  }
  if (error) std::rethrow_exception(error);
  if (copy.missing.empty()) copy.missing = describe_missing(missing, unpacked.problem, reader.said());
}

/// Passes the output of the program to a thread that unpacks it.
asio::awaitable<void> Pull::feed(Copy& copy, supervisor::ProgramReader& reader, const Wanted& wanted,
                                 Unpacked& unpacked) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  ByteQueue queue(executor);
  const std::uint64_t most = most_bytes(copy);
  ThreadWork work(executor, [&] {
    const AtEnd leave([&queue] { queue.leave(); });
    unpack([&queue] { return queue.next(); }, wanted, most, *copy.directory, unpacked);
  });
  const AtEnd give_up([&queue] { queue.give_up(); });  // before ThreadWork's destructor waits for the thread
  for (;;) {
    co_await queue.wait_for_room();
    if (queue.is_left()) break;
    std::optional<Chunk> output = co_await reader.read();
    if (!output) break;
    copy.pulled.received += output->size();
    queue.push(std::move(*output));
  }
  queue.close();
  co_await work.end();
}

}  // namespace podrun::transfer
