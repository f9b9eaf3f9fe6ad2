// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/resolver.hpp"

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

#include "podrun/base/event.hpp"

namespace podrun {
namespace {

using Answer = std::variant<Addresses, Failure>;

/// A name that somebody waits for, or that is known.
struct Question {
  std::optional<Answer> answer;
  std::vector<std::weak_ptr<Event>> waiting;
};

Failure failure(std::string what, Retry retry) { return {"name look-up", std::move(what), retry}; }

Failure failure(int error, int system_error = 0) {
  const bool may_help = error == EAI_AGAIN || error == EAI_MEMORY || error == EAI_SYSTEM;
  return failure(
      error == EAI_SYSTEM ? std::generic_category().message(system_error) : std::string(gai_strerror(error)),
      may_help ? Retry::may_help : Retry::no);
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

/// Nothing when the name is not an address.
std::optional<Answer> literal(const std::string& name, AddressFamily family) {
  std::error_code no_address;
  const asio::ip::address address = asio::ip::make_address(name, no_address);
  if (no_address) return std::nullopt;
  if (family == (address.is_v4() ? AddressFamily::ipv6 : AddressFamily::ipv4)) return failure(EAI_ADDRFAMILY);
  const std::size_t zone = name.find('%');
  if (zone != std::string::npos && address.to_v6().scope_id() == 0) {
    return failure(fmt::format("no such network interface \"{}\"", name.substr(zone + 1)), Retry::no);
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
    if (std::holds_alternative<Failure>(answer)) questions_.erase(found);
    question->answer = std::move(answer);
    for (const auto& waiting : std::exchange(question->waiting, {})) {
      if (const auto event = waiting.lock()) event->notify();
    }
  }

  asio::any_io_executor executor_;
  BlockingPool& pool_;
  const AskForName ask_;
  std::map<Key, std::shared_ptr<Question>> questions_;  ///< open ones and those with addresses
};

Resolver::Resolver(const asio::any_io_executor& executor, BlockingPool& pool, AskForName ask)
    : state_(std::make_shared<State>(executor, pool, std::move(ask))) {}

/// Held by its Lookup and by get(), which may have to outlive it.
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
    if (self->stopped_) throw HostError(*self->stopped_);
    if (const auto* failed = std::get_if<Failure>(&*answer)) throw HostError(*failed);
    co_return std::get<Addresses>(std::move(*answer));
  }

  void stop(Failure failure) {
    if (!stopped_) stopped_ = std::move(failure);
    woken_->notify();
  }

 private:
  std::shared_ptr<Resolver::State> resolver_;
  const std::string name_;
  const AddressFamily family_;
  std::shared_ptr<Event> woken_;
  std::optional<Failure> stopped_;
};

Lookup::Lookup(const Resolver& resolver, std::string name, AddressFamily family)
    : state_(std::make_shared<State>(resolver.state_, std::move(name), family)) {}

Lookup::~Lookup() { stop({"", "abandoned"}); }

asio::awaitable<Addresses> Lookup::get() { return State::get(state_); }

void Lookup::stop(Failure failure) { state_->stop(std::move(failure)); }

}  // namespace podrun
