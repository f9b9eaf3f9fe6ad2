// SPDX-License-Identifier: Apache-2.0
// Any text as a known_hosts file: a key that is added is known, a host that is forgotten has left no name,
// and what stays is as it was.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "podrun/ssh/host_keys/known_hosts.hpp"

#include "support/known_hosts_file.hpp"

namespace {

using namespace podrun;

void expect(bool condition) {
  if (!condition) std::abort();
}

void forget(const std::string& text) {
  const ssh::ForgottenKeys once = ssh::forget_keys(text, {{"a", 22}, {"b.c", 2222}});
  expect(once.text.size() <= text.size() && (once.removed == 0) == (once.text == text));
  const ssh::ForgottenKeys twice = ssh::forget_keys(once.text, {{"a", 22}, {"b.c", 2222}});
  expect(twice.removed == 0 && twice.text == once.text);
  expect(ssh::KnownHostsFile(once.text, "f").hashed_keys_of("a").empty());
  expect(ssh::forget_keys(text, {}).text == text);
}

void add(const std::string& text, const std::string& host, std::uint16_t port, ssh::NameForm form) {
  const ssh::HostKey key = test::test_key(1);
  const auto file = std::make_shared<ssh::KnownHostsFile>(text, "f");
  const ssh::KnownHosts hosts({file});
  const ssh::KeyVerdict before = hosts.check(host, port, key).verdict;
  const std::string line = file->add(ssh::known_hosts_name(host, port), key, form);
  const ssh::KeyVerdict expected = before == ssh::KeyVerdict::revoked ? before : ssh::KeyVerdict::known;
  expect(hosts.check(host, port, key).verdict == expected);
  const std::string separator = text.empty() || text.ends_with('\n') ? "" : "\n";
  const ssh::KnownHosts again({std::make_shared<ssh::KnownHostsFile>(text + separator + line, "f")});
  expect(again.check(host, port, key).verdict == expected);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  forget(text);
  add(text, "b.c", 2222, ssh::NameForm::plain);
  add(text, "a", 22, ssh::NameForm::hashed);
  add("", text, 22, ssh::NameForm::plain);  // as a HostKeyAlias
  return 0;
}
