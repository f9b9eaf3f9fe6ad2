// SPDX-License-Identifier: Apache-2.0
// Name look-ups on the blocking pool: one for each name, for all hosts that need it.
#include "podrun/ssh/transport/resolver.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/event.hpp"

namespace podrun::ssh {
namespace {

using Answer = std::variant<Addresses, link::Failure>;

/// A name with waiting look-ups, or with a known answer.
struct Question {
  std::optional<Answer> answer;
  std::vector<std::weak_ptr<Event>> waiting;
};

link::Cause cause_of(int error, int system_error) {
  switch (error) {
    case EAI_AGAIN:
    case EAI_FAIL:
      return link::Cause::name_service_failed;
    case EAI_MEMORY:
      return link::Cause::local_limit;
    case EAI_SYSTEM:
      return is_exhaustion(system_error) ? link::Cause::local_limit : link::Cause::name_service_failed;
    default:
      return link::Cause::name_not_found;
  }
}

link::Failure failure(int error, int system_error = 0) {
  const bool may_help = error == EAI_AGAIN || error == EAI_MEMORY || error == EAI_SYSTEM;
  return {
      link::Stage::name_lookup, cause_of(error, system_error),
      error == EAI_SYSTEM ? std::generic_category().message(system_error) : std::string(gai_strerror(error)),
      may_help ? link::Retry::may_help : link::Retry::no};
}

Answer to_answer(const NameAnswer& said) {
  if (said.error != 0) return failure(said.error, said.system_error);
  Addresses addresses;
  for (const asio::ip::address& address : said.addresses) {
    if (std::find(addresses.begin(), addresses.end(), address) == addresses.end()) {
      addresses.push_back(address);
    }
  }
  if (addresses.empty()) return failure(EAI_NONAME);
  return addresses;
}

/// The answer if the name is an address; else nothing.
std::optional<Answer> literal(const std::string& name, AddressFamily family) {
  std::error_code no_address;
  const asio::ip::address address = asio::ip::make_address(name, no_address);
  in_addr number{};
  if (no_address && ::inet_aton(name.c_str(), &number) == 1)  // getaddrinfo() makes 0.0.0.4 of 4
    return link::Failure{link::Stage::name_lookup, link::Cause::name_not_found,
                         "a number is not a host name"};
  if (no_address) return std::nullopt;
  if (family == (address.is_v4() ? AddressFamily::ipv6 : AddressFamily::ipv4)) return failure(EAI_ADDRFAMILY);
  const std::size_t zone = name.find('%');
  if (zone != std::string::npos && address.to_v6().scope_id() == 0) {
    const bool takes_zone = address.to_v6().is_link_local() || address.to_v6().is_multicast_link_local();
    const auto words = takes_zone ? "no such network interface \"{}\""
                                  : "a zone is only for link-local addresses, fe80::… (leave out \"%{}\")";
    return link::Failure{link::Stage::name_lookup, link::Cause::no_usable_address,
                         fmt::format(fmt::runtime(words), name.substr(zone + 1))};
  }
  return Addresses{address};
}

std::optional<asio::ip::address> to_address(const sockaddr* from) {
  if (from->sa_family == AF_INET) {
    sockaddr_in address{};
    std::memcpy(&address, from, sizeof address);
    return asio::ip::address_v4(ntohl(address.sin_addr.s_addr));
  }
  if (from->sa_family == AF_INET6) {
    sockaddr_in6 address{};
    std::memcpy(&address, from, sizeof address);
    asio::ip::address_v6::bytes_type bytes;
    std::memcpy(bytes.data(), &address.sin6_addr, bytes.size());
    return asio::ip::address_v6(bytes, address.sin6_scope_id);
  }
  return std::nullopt;
}

}  // namespace

NameAnswer ask_system(const std::string& name, AddressFamily family) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_family = family == AddressFamily::ipv4   ? AF_INET
                    : family == AddressFamily::ipv6 ? AF_INET6
                                                    : AF_UNSPEC;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(name.c_str(), nullptr, &hints, &list);
  if (error != 0) return {.error = error, .system_error = errno};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, ::freeaddrinfo);
  NameAnswer answer;
  for (const addrinfo* entry = list; entry; entry = entry->ai_next) {
    if (const auto address = to_address(entry->ai_addr)) answer.addresses.push_back(*address);
  }
  return answer;
}

class Resolver::State : public std::enable_shared_from_this<State> {
 public:
  State(asio::any_io_executor executor, BlockingPool& pool, AskForName ask)
      : executor_(std::move(executor)), pool_(pool), ask_(std::move(ask)) {}

  const asio::any_io_executor& executor() const { return executor_; }

  std::shared_ptr<Question> question(const std::string& name, AddressFamily family) {
    const Key key(name, family);
    const auto known = questions_.find(key);
    if (known != questions_.end()) return known->second;
    const auto said = std::make_shared<NameAnswer>();
    pool_.run([said, ask = ask_, name, family] { *said = ask(name, family); },
              [self = shared_from_this(), key, said] { self->settle(key, to_answer(*said)); });
    return questions_.emplace(key, std::make_shared<Question>()).first->second;
  }

 private:
  using Key = std::pair<std::string, AddressFamily>;

  void settle(const Key& key, Answer answer) {
    const auto found = questions_.find(key);
    const std::shared_ptr<Question> question = found->second;
    if (std::holds_alternative<link::Failure>(answer)) questions_.erase(found);
    question->answer = std::move(answer);
    for (const auto& waiting : std::exchange(question->waiting, {})) {
      if (const auto event = waiting.lock()) event->notify();
    }
  }

  asio::any_io_executor executor_;
  BlockingPool& pool_;
  const AskForName ask_;
  std::map<Key, std::shared_ptr<Question>> questions_;  ///< pending questions, and those with addresses
};

Resolver::Resolver(const asio::any_io_executor& executor, BlockingPool& pool, AskForName ask)
    : state_(std::make_shared<State>(executor, pool, std::move(ask))) {}

/// Shared by its Lookup and get(), which may have to outlive the Lookup.
class Lookup::State {
 public:
  State(std::shared_ptr<Resolver::State> resolver, std::string name, AddressFamily family)
      : resolver_(std::move(resolver)),
        name_(std::move(name)),
        family_(family),
        woken_(std::make_shared<Event>(resolver_->executor())) {}

  static asio::awaitable<Addresses> get(std::shared_ptr<State> self) {
    std::optional<Answer> answer = literal(self->name_, self->family_);
    if (!answer && !self->stopped_) {
      const std::shared_ptr<Question> question = self->resolver_->question(self->name_, self->family_);
      if (!question->answer) question->waiting.push_back(self->woken_);
      while (!question->answer && !self->stopped_) co_await self->woken_->wait();
      answer = question->answer;
    }
    if (self->stopped_) throw link::HostError(*self->stopped_);
    if (const auto* failed = std::get_if<link::Failure>(&*answer)) throw link::HostError(*failed);
    co_return std::get<Addresses>(std::move(*answer));
  }

  void stop(link::Failure failure) {
    if (!stopped_) stopped_ = std::move(failure);
    woken_->notify();
  }

 private:
  std::shared_ptr<Resolver::State> resolver_;
  const std::string name_;
  const AddressFamily family_;
  std::shared_ptr<Event> woken_;
  std::optional<link::Failure> stopped_;
};

Lookup::Lookup(const Resolver& resolver, std::string name, AddressFamily family)
    : state_(std::make_shared<State>(resolver.state_, std::move(name), family)) {}

Lookup::~Lookup() { stop({.cause = link::Cause::abandoned}); }

asio::awaitable<Addresses> Lookup::get() {
  getting_.call("Lookup::get() is called once");
  return State::get(state_);
}

void Lookup::stop(link::Failure failure) { state_->stop(std::move(failure)); }

}  // namespace podrun::ssh
