// SPDX-License-Identifier: Apache-2.0
// Connections to jump hosts: the first host that needs one opens it, the others wait, and all share it.
#include "podrun/ssh/jump_hosts.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "podrun/base/event.hpp"
#include "podrun/ssh/connection.hpp"
#include "podrun/ssh/transport/channel.hpp"

namespace podrun::ssh {

/// A jump host and its connection: none, being opened by one of the Jumps, or open.
class JumpHost {
 public:
  JumpHost(JumpHosts& all, const std::string& route)
      : all_(all),
        settings_(last_jump_host(route, all.world_.settings_for_jump_host)),
        name_(parse_proxy_jump(route).back().name) {}

  const std::string& name() const { return name_; }
  void place(link::Failure& failure) const {
    failure.stage = link::Stage::connecting;
    if (connection_) connection_->place(failure);
  }
  /// Null unless it is open.
  std::shared_ptr<SshSession> session() const {
    if (opening_ || !connection_) return nullptr;
    const std::shared_ptr<SshSession> session = connection_->session();
    return session && !session->has_ended() ? session : nullptr;
  }
  bool is_opening() const { return opening_; }

  asio::awaitable<void> open() {
    expect(!opening_, "one Jump at a time opens a jump host");
    opening_ = true;
    connection_ = std::make_unique<Connection>(all_.world_, all_, settings_, name_);
    std::optional<link::Failure> failure;
    try {
      co_await connection_->open();
    } catch (const link::HostError& error) {
      failure = error.failure();
    }
    opening_ = false;
    if (failure) connection_.reset();
    const std::optional<link::Failure> told = std::exchange(stopped_, false) ? std::nullopt : failure;
    for (Waiter* waiter : waiters_) {
      waiter->failure = told;
      waiter->event.notify();
    }
    if (failure) throw link::HostError(*failure);
  }
  /// The Jump that opens it gives up, so another one must continue.
  void stop_opening(const link::Failure& failure) {
    expect(opening_, "the Jump that opens a jump host stops that");
    stopped_ = true;
    connection_->stop(failure);
  }

  /// Returns when the current attempt to open it has ended, or at waiter.event.
  struct Waiter {
    explicit Waiter(const asio::any_io_executor& executor) : event(executor) {}
    Event event;
    std::optional<link::Failure> failure;  ///< the attempt's failure, unless it was given up
  };
  asio::awaitable<void> wait(Waiter& waiter) {
    waiters_.push_back(&waiter);
    co_await waiter.event.wait();
    std::erase(waiters_, &waiter);
  }

 private:
  JumpHosts& all_;
  const SshSettings settings_;
  const std::string name_;
  std::unique_ptr<Connection> connection_;
  bool opening_ = false;
  bool stopped_ = false;
  std::vector<Waiter*> waiters_;
};

JumpHosts::JumpHosts(const SshWorld& world) : world_(world) {}

JumpHosts::~JumpHosts() = default;

std::shared_ptr<JumpHost> JumpHosts::at(const std::string& route) {
  std::shared_ptr<JumpHost>& host = by_route_[route];
  if (!host) host = std::make_shared<JumpHost>(*this, route);
  return host;
}

/// Shared by its Jump and forward(), which may have to outlive the Jump.
class Jump::State {
 public:
  State(const asio::any_io_executor& executor, std::shared_ptr<JumpHost> host)
      : host_(std::move(host)), waiter_(executor) {}

  static asio::awaitable<std::shared_ptr<link::Stream>> forward(std::shared_ptr<State> self, std::string host,
                                                                std::uint16_t port) {
    const std::shared_ptr<SshSession> session = co_await self->session();
    self->channel_ = std::make_shared<Channel>(session);
    try {
      co_await self->channel_->forward(std::move(host), port);
    } catch (const link::HostError& error) {
      link::Failure failure = self->stopped_.value_or(error.failure());
      self->place(failure);
      throw link::HostError(failure);
    }
    co_return std::exchange(self->channel_, nullptr);
  }

  void stop(link::Failure failure) {
    if (!stopped_) stopped_ = failure;
    if (opens_) host_->stop_opening(failure);
    if (channel_) channel_->stop(failure);
    waiter_.event.notify();
  }

  const std::string& name() const { return host_->name(); }
  void place(link::Failure& failure) const {
    failure.jump_hosts.clear();
    failure.stage = link::Stage::forwarding;
    if (!channel_) host_->place(failure);
    failure.jump_hosts.insert(failure.jump_hosts.begin(), name());
  }

 private:
  /// The session of the jump host; connects if no other Jump does.
  asio::awaitable<std::shared_ptr<SshSession>> session() {
    for (;;) {
      if (stopped_) throw link::HostError(*stopped_);
      if (std::shared_ptr<SshSession> session = host_->session()) co_return session;
      std::optional<link::Failure> failure;
      if (host_->is_opening()) {
        co_await host_->wait(waiter_);
        failure = std::exchange(waiter_.failure, std::nullopt);
      } else {
        opens_ = true;
        try {
          co_await host_->open();
        } catch (const link::HostError& error) {
          failure = error.failure();
        }
        opens_ = false;
      }
      if (stopped_) throw link::HostError(*stopped_);
      if (failure) {
        failure->jump_hosts.insert(failure->jump_hosts.begin(), name());
        throw link::HostError(*failure);
      }
    }
  }

  std::shared_ptr<JumpHost> host_;
  JumpHost::Waiter waiter_;
  std::shared_ptr<Channel> channel_;  ///< the channel that is being opened
  bool opens_ = false;
  std::optional<link::Failure> stopped_;
};

Jump::Jump(JumpHosts& jump_hosts, const std::string& route)
    : state_(std::make_shared<State>(jump_hosts.world_.executor, jump_hosts.at(route))),
      jump_hosts_(jump_hosts.lender_) {}

Jump::~Jump() { stop({.cause = link::Cause::abandoned}); }

asio::awaitable<std::shared_ptr<link::Stream>> Jump::forward(std::string host, std::uint16_t port) {
  forwarding_.call("Jump::forward() is called once");
  return State::forward(state_, std::move(host), port);
}

void Jump::stop(link::Failure failure) { state_->stop(std::move(failure)); }

void Jump::place(link::Failure& failure) const { state_->place(failure); }

const std::string& Jump::name() const { return state_->name(); }

}  // namespace podrun::ssh
