// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/auth/key_candidates.hpp"

#include <gmock/gmock.h>

#include "podrun/ssh/host_keys/key_blob.hpp"

namespace podrun::ssh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string blob(const std::string& key) { return wire_string("ssh-ed25519") + wire_string(key); }

AgentKey of_agent(const std::string& key) { return {.blob = blob(key), .comment = key}; }

std::shared_ptr<const Identity> of_file(const std::string& key) {
  return std::make_shared<const Identity>(
      Identity{.name = key, .public_blob = blob(key), .key = {}, .locked_file = "id_" + key});
}

class KeyCandidatesTest : public testing::Test {
 protected:
  /// The agent holds two keys, one of which is also a file; there is another file.
  KeyCandidates find(const std::string& last_accepted = {}) const {
    return key_candidates({of_file("named"), of_file("file")}, {of_agent("other"), of_agent("named")},
                          settings_, last_accepted);
  }
  static std::vector<std::string> blobs(const KeyCandidates& candidates) {
    std::vector<std::string> result;
    for (const KeyCandidate& candidate : candidates.in_order) result.push_back(candidate.blob);
    return result;
  }

  SshSettings settings_;
};

TEST_F(KeyCandidatesTest, AreInTheOrderOfSsh) {
  EXPECT_THAT(blobs(find()), ElementsAre(blob("named"), blob("other"), blob("file")));
}

TEST_F(KeyCandidatesTest, BeginWithTheKeyThatTheLastHostAccepted) {
  EXPECT_THAT(blobs(find(blob("file"))), ElementsAre(blob("file"), blob("named"), blob("other")));
}

TEST_F(KeyCandidatesTest, AreOnlyTheNamedOnesWithIdentitiesOnly) {
  settings_.identities_only = true;
  EXPECT_THAT(blobs(find()), ElementsAre(blob("named"), blob("file")));
}

TEST_F(KeyCandidatesTest, NameTheKeysThatMayNotBeOffered) {
  settings_.public_key_algorithms = "rsa-sha2-512";
  const KeyCandidates candidates = find();
  EXPECT_THAT(candidates.in_order, IsEmpty());
  EXPECT_THAT(candidates.not_allowed, ElementsAre("the agent's \"named\"", "the agent's \"other\"", "file"));
}

}  // namespace
}  // namespace podrun::ssh
