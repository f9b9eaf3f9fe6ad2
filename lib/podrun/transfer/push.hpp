// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <asio/awaitable.hpp>

#include "podrun/base/event.hpp"
#include "podrun/base/expect.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/report/json_events.hpp"
#include "podrun/session/session.hpp"
#include "podrun/supervisor/supervised.hpp"
#include "podrun/transfer/archive.hpp"
#include "podrun/transfer/comparison.hpp"
#include "podrun/transfer/host_waits.hpp"
#include "podrun/transfer/local_tree.hpp"
#include "podrun/transfer/scan_reply.hpp"
#include "podrun/transfer/spread/spread.hpp"

namespace podrun::transfer {

struct PushRequest {
  TreeRequest tree;
  std::string target;  ///< on the hosts, from the home directory (also as `~/`)
  Compare compare = Compare::size_and_time;
  Delete remove = Delete::no;
  bool keep_dir_links = false;                      ///< write through links to directories on the hosts
  bool only_look = false;                           ///< only finds what would be done
  std::size_t max_files = PathBudget::kUsualPaths;  ///< of each host that may be deleted
  bool may_delete_all = false;                      ///< a host may lose everything in the target
  bool may_send_private = false;                    ///< what private_parts() finds is sent
  /// If a host has the files, the sources of the tree are paths there, and `compare` is by size and time.
  SpreadRequest spread = {};
  std::vector<std::string> words = {};  ///< of a host: the sources as the user wrote them

  const std::vector<std::string>& sources_for_user() const {
    return spread.source_host ? words : tree.sources;
  }
};

/// The part of a push that one host got, or would get.
struct HostShare : SpreadShare {
  std::size_t files = 0;                    ///< and links
  std::uint64_t bytes = 0;                  ///< of the files
  std::vector<std::size_t> chosen;          ///< entries, with only_look
  std::vector<std::size_t> replaced_links;  ///< entries for directories that replace links
  std::vector<HostOnly> deleted;            ///< sorted; a directory stands for what is in it
  bool has_attributes = false;              ///< modes or times are set
  std::optional<std::size_t> shared_with;   ///< the host that writes the file system that both use
  bool is_staged = false;
};

/// Copies the local files to hosts: each lists what it has, gets what differs into a staging directory, and
/// is then ready for the switch, switch_command(), which is the command of the run.
class Push {
 public:
  /// Reads the local files, if it is not a host that has them. Throws UsageError.
  Push(PushRequest request, std::size_t hosts);

  /// Call this before each pass of the run: forgets which hosts have staged the files.
  void begin_pass();
  /// Call this when the run decides to try a host again: what it has staged is lost.
  void retry(std::size_t host) { shares_[host].is_staged = false; }
  /// Call this when an attempt of a host begins.
  void begin_attempt(std::size_t host) { waits_.begin_attempt(host); }
  /// Call this when the run gives up an attempt: its prepare() fails instead of waiting for other hosts.
  void abandon(std::size_t host) { waits_.abandon(host); }
  /// Does everything before the switch. Throws HostError.
  asio::awaitable<void> prepare(std::size_t host, supervisor::Supervised& supervised);

  const std::vector<HostShare>& shares() const { return shares_; }
  /// The tree as the hosts get it; one name may differ from the local one.
  const LocalTree& tree() const { return is_name_.value_or(false) ? *renamed_ : tree_; }
  const PushRequest& request() const { return request_; }
  /// Sockets, devices and FIFOs of the host that has the files, which are not copied.
  std::size_t special_of_host() const { return special_of_host_; }
  /// True if a host was refused in this pass since it would lose everything; see allow_delete_all().
  bool deletes_all() const { return deletes_all_; }
  void allow_delete_all() { request_.may_delete_all = true; }

 private:
  struct Writer;
  class Claim;
  /// The files of a host, compared with the local ones.
  struct Scan {
    ScanHeader header;
    Comparison comparison;
  };

  std::vector<std::string> arguments(const supervisor::Supervised& supervised, const std::string& name) const;
  asio::awaitable<void> converse(std::size_t host, supervisor::Supervised& supervised);
  asio::awaitable<void> serve(supervisor::Supervised& supervised);
  void take_tree(LocalTree tree, std::optional<LocalTree> renamed);
  void check_private(const LocalTree& tree) const;
  bool are_all_staged() const;
  bool may_be_name(const LocalTree& tree) const;
  asio::awaitable<void> wait_for_tree(std::size_t host);
  const LocalTree& tree_for(const ScanHeader& header);
  asio::awaitable<Scan> scan(PushTalk& talk);
  asio::awaitable<void> keep_links(PushTalk& talk, Comparison& comparison);
  asio::awaitable<void> compare_contents(supervisor::Supervised& supervised, Scan& scan);
  asio::awaitable<void> read_digests(PushTalk& talk, const std::vector<std::size_t>& indices,
                                     std::size_t most, Scan& scan);
  std::vector<std::size_t> to_digest(const Scan& scan) const;
  Transfer transfer(Comparison& comparison) const;
  void check_deleted(const Transfer& transfer);
  void check_room(const ScanHeader& header, const Transfer& transfer) const;
  asio::awaitable<bool> follow(PushTalk& talk, std::size_t host, const std::string& inode,
                               const Transfer& transfer, Writer& own);
  asio::awaitable<void> stage(PushTalk& talk, std::size_t host, const ScanHeader& header,
                              const Transfer& transfer, const std::shared_ptr<Archive>& archive);
  asio::awaitable<std::string> stage_directly(PushTalk& talk, const std::shared_ptr<Archive>& archive,
                                              DigestKind digest, std::string trailer, HostShare& share);
  std::shared_ptr<Archive> archive_of(const Transfer& transfer);
  std::vector<bool> kept_among(const std::vector<HostOnly>& paths) const;
  std::string target_directory() const;

  PushRequest request_;
  LocalTree tree_;
  std::optional<LocalTree> renamed_;  ///< with the target's name; only for a single file
  std::optional<bool> is_name_;       ///< the target is that name; the hosts must agree
  std::vector<HostShare> shares_;
  bool deletes_all_ = false;
  bool has_tree_;
  std::size_t special_of_host_ = 0;
  HostWaits waits_;  ///< for the tree, or for what happens to other hosts of the spread
  Spread spread_;
  std::map<std::vector<std::size_t>, std::weak_ptr<Archive>> archives_;  ///< by Transfer::chosen
  std::map<std::string, std::vector<std::shared_ptr<Writer>>> writers_;  ///< by inode
  std::map<std::pair<DigestKind, std::size_t>, std::string> digests_;    ///< of local files, by entry
};

/// The time that would be saved from now on if one copy were sent instead of one for each host, at the rate
/// of all of them together; 0 in the first seconds, which say nothing of that.
std::chrono::seconds saved_by_spreading(const std::vector<HostShare>& shares,
                                        std::chrono::steady_clock::time_point now);

/// The last part of a path on the hosts.
std::string last_name(const std::string& path);

/// sh text that sets the parameters to the switch, for run::RunPlan::command.
std::string switch_command();

enum class Tense { did, would };

struct HostTransfer {
  std::size_t worker;
  report::FilesSent sent;
  bool has_attributes = false;  ///< modes or times were set
};

/// `3 files (1.2 MB) to 16 hosts · 2 deleted · 12 paths ignored`, `16 hosts are up to date`.
/// There must be a host. `here`: for hosts that got from podrun what others got from each other.
std::string describe_transfers(const std::vector<HostTransfer>& hosts, std::size_t ignored, Tense tense,
                               std::string_view separator, std::string_view here = "from here");

/// The changes that a host would get.
struct PlannedTransfer {
  std::size_t host = 0;           ///< an index into the hosts
  std::vector<std::string> sent;  ///< paths; a directory ends with "/"
  std::vector<std::string> deleted;
  std::vector<std::string> replaced_links = {};  ///< by directories
};

/// A heading and a line for each path, once for all hosts with equal changes.
std::vector<std::string> list_transfers(const std::vector<hosts::Host>& hosts,
                                        const std::vector<PlannedTransfer>& planned);

/// A copy of local files to every host of a session, all at once or not at all.
class PushRun {
 public:
  /// Reads the local files. Throws UsageError. `view` and `retry_command`: as in RunSpec.
  PushRun(PushRequest request, const session::SessionSpec& session, session::View view,
          std::function<std::string(const std::string&)> retry_command);

  /// Asks about the home directory and keys in the sources, if they are there and nobody has been asked. An
  /// exit status if they must not be sent.
  std::optional<int> confirm(session::Session& session);
  /// Makes the copy after confirm(), and says how that went. The exit status.
  int run(session::Session& session);

 private:
  void check_private();

  session::RunSpec run_;
  Push push_;
  Once running_;
  std::vector<std::string> private_;  ///< see private_parts(); empty if that may be sent
};

}  // namespace podrun::transfer
