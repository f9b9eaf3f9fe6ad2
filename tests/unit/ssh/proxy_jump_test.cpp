// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/config/proxy_jump.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/usage_error.hpp"

namespace podrun::ssh {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

MATCHER_P3(Hop, user, name, port, "") { return arg.user == user && arg.name == name && arg.port == port; }

/// Settings of jump hosts: the own ProxyJump of each name.
SettingsForJumpHost configured(std::map<std::string, std::string> proxy_jumps) {
  return [proxy_jumps](const hosts::Host& host) {
    SshSettings settings;
    settings.host_name = host.name;
    const auto own = proxy_jumps.find(host.name);
    if (own != proxy_jumps.end()) settings.proxy_jump = own->second;
    return settings;
  };
}

TEST(ProxyJump, IsAListOfHosts) {
  EXPECT_THAT(parse_proxy_jump("bastion"), ElementsAre(Hop("", "bastion", 0)));
  EXPECT_THAT(parse_proxy_jump("me@bastion:2222"), ElementsAre(Hop("me", "bastion", 2222)));
  EXPECT_THAT(parse_proxy_jump("a@b@c"), ElementsAre(Hop("a@b", "c", 0)));
  EXPECT_THAT(parse_proxy_jump("a,me@b:22,c"),
              ElementsAre(Hop("", "a", 0), Hop("me", "b", 22), Hop("", "c", 0)));
  EXPECT_THAT(parse_proxy_jump("[2001:db8::1]:22"), ElementsAre(Hop("", "2001:db8::1", 22)));
  EXPECT_THAT(parse_proxy_jump("2001:db8::1"), ElementsAre(Hop("", "2001:db8::1", 0)));
  EXPECT_THAT(parse_proxy_jump("ssh://me@bastion:2222/"), ElementsAre(Hop("me", "bastion", 2222)));
}

TEST(ProxyJump, RefusesMalformedHosts) {
  for (const char* text : {"", ",", "a,", "a,,b", "@b", "b:", "b:0", "b:65536", "b:x", "[::1", "[::1]x",
                           "-oX", "a b", "a[0]", "a\x1b[m", "a\n", "\x7f@b"}) {
    EXPECT_THAT(usage_error([&] { parse_proxy_jump(text); }), HasSubstr("bad ProxyJump")) << text;
  }
}

TEST(ProxyJump, ReachesTheLastHostThroughTheOthers) {
  const SettingsForJumpHost settings_for = configured({{"b", "x"}, {"a", "y"}});
  EXPECT_EQ(last_jump_host("a", settings_for).proxy_jump, "y");
  EXPECT_EQ(last_jump_host("a,b", settings_for).proxy_jump, "a") << "and not by what is configured for b";
  EXPECT_EQ(last_jump_host("a,b,c", settings_for).proxy_jump, "a,b");
  EXPECT_EQ(last_jump_host("a,b", settings_for).host_name, "b");
}

TEST(ProxyJump, ListsAllHostsOfTheRoute) {
  const auto names = [](const std::vector<SshSettings>& hosts) {
    std::vector<std::string> result;
    for (const SshSettings& host : hosts) result.push_back(host.host_name);
    return result;
  };
  const SettingsForJumpHost settings_for = configured({{"a", "b"}, {"b", "c"}});
  EXPECT_THAT(all_jump_hosts("", settings_for), IsEmpty());
  EXPECT_THAT(names(all_jump_hosts("a", settings_for)), ElementsAre("a", "b", "c"));
  EXPECT_THAT(names(all_jump_hosts("b,x", settings_for)), ElementsAre("x", "b", "c"));
}

TEST(ProxyJump, RefusesACircle) {
  EXPECT_THAT(usage_error([] {
                all_jump_hosts("a", configured({{"a", "a"}}));
              }),
              HasSubstr("ProxyJump \"a\" loops back to itself"));
  EXPECT_THAT(usage_error([] {
                all_jump_hosts("a,b", configured({{"a", "c"}, {"c", "a"}}));
              }),
              HasSubstr("ProxyJump \"a,b\" loops back to itself"));
}

}  // namespace
}  // namespace podrun::ssh
