// SPDX-License-Identifier: Apache-2.0
// Any text as a known_hosts file: a key that is added is known, a host that is forgotten has left no name,
// and what stays is as it was.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "podrun/ssh/known_hosts.hpp"

#include "support/known_hosts.hpp"

namespace {

using namespace podrun;

void expect(bool condition) {
  if (!condition) std::abort();
}

void forget(const std::string& text) {
  const ForgottenKeys once = forget_keys(text, {{"a", 22}, {"b.c", 2222}});
  expect(once.text.size() <= text.size() && (once.removed == 0) == (once.text == text));
  const ForgottenKeys twice = forget_keys(once.text, {{"a", 22}, {"b.c", 2222}});
  expect(twice.removed == 0 && twice.text == once.text);
  expect(KnownHostsFile(once.text, "f").hashed_keys_of("a").empty());
  expect(forget_keys(text, {}).text == text);
}

void add(const std::string& text, const std::string& host, std::uint16_t port, NameForm form) {
  const HostKey key = test::test_key(1);
  const auto file = std::make_shared<KnownHostsFile>(text, "f");
  const KnownHosts hosts({file});
  const KeyVerdict before = hosts.check(host, port, key).verdict;
  const std::string line = file->add(known_hosts_name(host, port), key, form);
  const KeyVerdict expected = before == KeyVerdict::revoked ? before : KeyVerdict::known;
  expect(hosts.check(host, port, key).verdict == expected);
  const std::string separator = text.empty() || text.ends_with('\n') ? "" : "\n";
  const KnownHosts again({std::make_shared<KnownHostsFile>(text + separator + line, "f")});
  expect(again.check(host, port, key).verdict == expected);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  forget(text);
  add(text, "b.c", 2222, NameForm::plain);
  add(text, "a", 22, NameForm::hashed);
  add("", text, 22, NameForm::plain);  // as a HostKeyAlias
  return 0;
}
