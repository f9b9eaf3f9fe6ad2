// SPDX-License-Identifier: Apache-2.0
// Lets libssh use the chosen keys of the user's ssh-agent. libssh blocks while it waits for an agent, so it
// runs on another thread and talks to a proxy here.
#include "podrun/ssh/auth/agent.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/steady_timer.hpp>
#include <fmt/format.h>

#include "podrun/base/descriptor.hpp"
#include "podrun/base/event.hpp"
#include "podrun/base/text.hpp"
#include "podrun/link/link.hpp"

namespace podrun::ssh {
namespace {

void rethrow(const std::exception_ptr& error) {
  if (error) std::rethrow_exception(error);  // out of memory: no other exception is possible
}

}  // namespace

/// Shared by the agent, its proxies, and a pending question.
class Agent::State : public std::enable_shared_from_this<State> {
 public:
  State(asio::any_io_executor executor, std::string socket)
      : executor_(std::move(executor)), socket_(std::move(socket)) {}

  const asio::any_io_executor& executor() const { return executor_; }
  const std::string& socket() const { return socket_; }
  /// The error as text for people.
  std::string trouble(const AgentError& error) const {
    return fmt::format("agent \"{}\": {}", socket_, error.what());
  }

  struct Answer {
    std::vector<AgentKey> keys;
    std::string trouble;
  };
  const std::optional<Answer>& answer() const { return answer_; }

  /// Notifies `event` when the answer has come.
  void want(const std::shared_ptr<Event>& event) {
    if (answer_) return;
    waiting_.push_back(event);
    if (question_) return;
    question_ = std::make_shared<AgentQuestion>(executor_);
    asio::co_spawn(executor_, ask(shared_from_this(), question_), rethrow);
  }
  /// Without waiters the question is dropped, because the agent may never answer.
  void want_no_more(const std::shared_ptr<Event>& event) {
    waiting_.erase(std::remove(waiting_.begin(), waiting_.end(), event), waiting_.end());
    if (waiting_.empty()) close();
  }
  bool is_awaited() const { return !waiting_.empty(); }
  void close() {
    if (const auto question = std::exchange(question_, nullptr)) question->close();
  }

 private:
  static asio::awaitable<void> ask(std::shared_ptr<State> self, std::shared_ptr<AgentQuestion> question) {
    Answer answer;
    try {
      const std::string request = agent_list_request();
      const std::string said = co_await question->ask(self->socket_, request);
      auto keys = parse_agent_keys(said);
      if (!keys) throw AgentError(said == agent_failure_message() ? "it refused" : "it sent no list of keys");
      answer.keys = *std::move(keys);
    } catch (const AgentError& error) {
      answer.trouble = self->trouble(error);
    }
    if (self->question_ != question) co_return;  // dropped meanwhile
    self->close();
    self->answer_ = std::move(answer);
    for (const auto& event : std::exchange(self->waiting_, {})) event->notify();
  }

  const asio::any_io_executor executor_;
  const std::string socket_;
  std::shared_ptr<AgentQuestion> question_;  ///< null: no question is pending
  std::vector<std::shared_ptr<Event>> waiting_;
  std::optional<Answer> answer_;
};

Agent::Agent(const asio::any_io_executor& executor, std::string socket)
    : state_(std::make_shared<State>(executor, std::move(socket))) {}

Agent::~Agent() {
  expect_at_end(!state_->is_awaited(), "an Agent outlives the calls of list() that wait for it");
  state_->close();
}

Agent* Agents::find(const std::string& socket) {
  if (socket.empty()) return nullptr;
  const auto found = agents_.find(socket);
  if (found != agents_.end()) return &found->second;
  return &agents_.try_emplace(socket, executor_, socket).first->second;
}

/// Shared by the proxy and the coroutine that serves libssh.
class AgentProxy::State : public std::enable_shared_from_this<State> {
 public:
  explicit State(std::shared_ptr<Agent::State> agent)
      : agent_(std::move(agent)),
        served_(agent_->executor()),
        timer_(agent_->executor()),
        woken_(std::make_shared<Event>(agent_->executor())) {}

  void give_up_after(std::chrono::milliseconds limit) { limit_ = limit; }
  bool has_given_up() const { return !given_up_.empty(); }
  bool waits() const { return waits_; }

  static asio::awaitable<std::vector<AgentKey>> list(std::shared_ptr<State> self) {
    const std::shared_ptr<Agent::State> agent = self->agent_;
    if (!self->stopped_) agent->want(self->woken_);
    self->begin_waiting();
    while (!agent->answer() && !self->stopped_ && !self->has_given_up()) co_await self->woken_->wait();
    self->end_waiting();
    agent->want_no_more(self->woken_);
    if (!agent->answer()) {
      self->trouble_ = agent->trouble(AgentError(self->has_given_up() ? self->given_up_ : "stopped"));
      co_return std::vector<AgentKey>();
    }
    self->trouble_ = agent->answer()->trouble;
    co_return agent->answer()->keys;
  }

  int start() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      throw link::HostError(
          {link::Stage::login, link::Cause::local_limit, "no agent: " + errno_text(), link::Retry::may_help});
    }
    if (const std::error_code error = adopt(served_, ends[0], asio::local::stream_protocol())) {
      ::close(ends[1]);
      throw link::HostError({link::Stage::login, link::Cause::local_limit, "no agent: " + error.message(),
                             link::Retry::may_help});
    }
    if (stopped_) close();
    asio::co_spawn(agent_->executor(), serve(shared_from_this()), rethrow);
    return ends[1];
  }
  void stop() {
    stopped_ = true;
    timer_.cancel();
    close();
    woken_->notify();
  }

  std::vector<AgentKey> shown;
  const std::string& last_asked() const { return last_asked_; }
  const std::string& trouble() const { return trouble_; }

 private:
  static asio::awaitable<void> serve(std::shared_ptr<State> self) {
    try {
      for (;;) {
        const std::string request = co_await read_agent_message(self->served_);
        const std::string answer = co_await self->answer(request);
        co_await write_agent_message(self->served_, answer);
      }
    } catch (const AgentError&) {
      self->close();  // libssh or podrun has closed its end
    }
  }

  asio::awaitable<std::string> answer(const std::string& request) {
    if (is_agent_list_request(request)) co_return agent_keys_message(shown);
    std::optional<AgentSignRequest> wanted = parse_agent_sign_request(request);
    if (!wanted) co_return agent_failure_message();
    const auto key = std::find_if(shown.begin(), shown.end(),
                                  [&](const AgentKey& candidate) { return candidate.blob == wanted->blob; });
    if (key == shown.end()) co_return agent_failure_message();
    last_asked_ = wanted->blob;
    if (!key->held_as.empty()) wanted->blob = key->held_as;
    std::string forwarded = agent_sign_request_message(*wanted);
    std::string signature = co_await sign(key->comment, std::move(forwarded));
    co_return signature;
  }

  asio::awaitable<std::string> sign(std::string comment, std::string request) {
    try {
      if (has_given_up()) throw AgentError(given_up_);
      question_ = std::make_shared<AgentQuestion>(agent_->executor());
      begin_waiting();
      std::string answer = co_await question_->ask(agent_->socket(), request);
      if (!is_signature_message(answer)) {
        throw AgentError(fmt::format("it does not sign with the key \"{}\"", comment));
      }
      trouble_.clear();
      end_waiting();
      question_.reset();
      co_return answer;
    } catch (const AgentError& error) {
      trouble_ = agent_->trouble(has_given_up() ? AgentError(given_up_) : error);
    }
    end_waiting();
    question_.reset();
    co_return agent_failure_message();
  }

  void begin_waiting() {
    waits_ = true;
    if (!limit_) return;
    timer_.expires_after(*limit_);
    timer_.async_wait([self = shared_from_this()](const std::error_code& cancelled) {
      const bool is_late =
          std::chrono::steady_clock::now() >= self->timer_.expiry();  // false: the expiry of an earlier wait
      if (!cancelled && self->waits_ && is_late) self->give_up();
    });
  }
  void end_waiting() {
    waits_ = false;
    timer_.cancel();
  }
  void give_up() {
    given_up_ = fmt::format("no answer for {:g} s", std::chrono::duration<double>(*limit_).count());
    if (question_) question_->close();
    woken_->notify();
  }

  void close() {
    if (question_) question_->close();
    std::error_code ignored;
    served_.close(ignored);
  }

  std::shared_ptr<Agent::State> agent_;
  AgentSocket served_;  ///< libssh has the other end
  std::shared_ptr<AgentQuestion> question_;
  std::optional<std::chrono::milliseconds> limit_;  ///< for each question
  asio::steady_timer timer_;
  bool waits_ = false;    ///< waits for an answer
  std::string given_up_;  ///< the reason; empty: it has not given up
  std::shared_ptr<Event> woken_;
  bool stopped_ = false;
  std::string last_asked_;
  std::string trouble_;
};

AgentProxy::AgentProxy(const Agent& agent) : state_(std::make_shared<State>(agent.state_)) {}
AgentProxy::~AgentProxy() { stop(); }
asio::awaitable<std::vector<AgentKey>> AgentProxy::list() { return State::list(state_); }
void AgentProxy::show(std::vector<AgentKey> keys) { state_->shown = std::move(keys); }
int AgentProxy::release_descriptor() {
  releasing_.call("AgentProxy::release_descriptor() is called once");
  return state_->start();
}
const std::string& AgentProxy::last_asked() const { return state_->last_asked(); }
const std::string& AgentProxy::trouble() const { return state_->trouble(); }
void AgentProxy::give_up_after(std::chrono::milliseconds limit) { state_->give_up_after(limit); }
bool AgentProxy::has_given_up() const { return state_->has_given_up(); }
bool AgentProxy::waits() const { return state_->waits(); }
void AgentProxy::stop() { state_->stop(); }

}  // namespace podrun::ssh
