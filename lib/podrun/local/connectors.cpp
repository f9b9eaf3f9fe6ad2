// SPDX-License-Identifier: Apache-2.0
// The connectors of `local` hosts, whose programs are children, and of `--via`, which starts the user's
// command for each program on a host.
#include "podrun/local/connectors.hpp"

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/shell_quote.hpp"

namespace podrun::local {
namespace {

/// The way to one host: words before the shell, empty for this machine.
struct Transport {
  asio::any_io_executor executor;
  std::vector<std::string> words;
  const ProcessOptions& child;  // owned by the connector
};

asio::awaitable<std::shared_ptr<link::Stream>> start(std::shared_ptr<const Transport> transport,
                                                     link::Program program, ViaWatch::OnStart on_start) {
  ProcessOptions options = transport->child;
  options.arguments = transport->words;
  if (program.privilege == link::Privilege::root) {
    for (const char* word : {"sudo", "-n"}) options.arguments.emplace_back(word);
  }
  options.arguments.emplace_back("/bin/sh");
  std::shared_ptr<link::Stream> stream = spawn_process(transport->executor, std::move(options));
  on_start(stream);
  co_await link::send_program(*stream, program);
  co_return stream;
}

/// Starts a child for each program. `shared`: null for this machine, which is not watched.
class ChildLink : public link::Link {
 public:
  ChildLink(Transport transport, std::shared_ptr<ViaWatch::Shared> shared)
      : transport_(std::make_shared<const Transport>(std::move(transport))), shared_(std::move(shared)) {}
  ChildLink(const ChildLink&) = delete;
  ChildLink& operator=(const ChildLink&) = delete;
  ~ChildLink() override {
    if (watch_) watch_->stop();
  }

  asio::awaitable<void> open() override { co_return; }
  bool mixes_statuses() const override { return shared_ != nullptr; }
  void stop(link::Failure failure) override {
    if (watch_) watch_->stop();
    if (const auto stream = starting_.lock()) stream->stop(std::move(failure));
  }

  asio::awaitable<std::shared_ptr<link::Stream>> exec(link::Program program) override {
    // Named: g++ 12 destroys a temporary here twice.
    ViaWatch::OnStart on_start = [this](const std::shared_ptr<link::Stream>& starting) {
      starting_ = starting;
    };
    std::shared_ptr<link::Stream> stream =
        co_await start(transport_, std::move(program), std::move(on_start));
    if (watch_ || !shared_ || shared_->questions.interval.count() == 0) co_return stream;
    const auto ask = [transport = transport_](link::Program question, ViaWatch::OnStart on_asking) {
      return start(transport, std::move(question), std::move(on_asking));
    };
    watch_ = std::make_shared<ViaWatch>(transport_->executor, shared_, ask);
    co_return watch_->watch(std::move(stream));
  }

 private:
  std::shared_ptr<const Transport> transport_;
  std::shared_ptr<ViaWatch::Shared> shared_;
  std::shared_ptr<ViaWatch> watch_;       // for the first program, the supervisor
  std::weak_ptr<link::Stream> starting_;  // may hang while it reads its program
};

class ViaConnector : public link::Connector {
 public:
  ViaConnector(const asio::any_io_executor& executor, ViaTemplate via, ProcessOptions child,
               AliveQuestions questions)
      : executor_(executor),
        via_(std::move(via)),
        child_(std::move(child)),
        shared_(std::make_shared<ViaWatch::Shared>(ViaWatch::Shared{.questions = questions})) {}

  std::unique_ptr<link::Link> link(const hosts::Host& host) override {
    return std::make_unique<ChildLink>(Transport{executor_, via_.words_for(host), child_}, shared_);
  }

 private:
  asio::any_io_executor executor_;
  ViaTemplate via_;
  ProcessOptions child_;
  std::shared_ptr<ViaWatch::Shared> shared_;
};

/// Replaces every {name} in the word by the result of `fill(name)`.
template <typename Fill>
std::string filled(const std::string& word, Fill fill) {
  std::string result;
  for (std::size_t position = 0; position < word.size();) {
    const std::size_t open = std::min(word.find('{', position), word.size());
    const std::size_t close = word.find('}', open);
    result += word.substr(position, open - position);
    if (close == std::string::npos) return result + word.substr(open);
    result += fill(word.substr(open + 1, close - open - 1));
    position = close + 1;
  }
  return result;
}

class LocalConnector : public link::Connector {
 public:
  LocalConnector(const asio::any_io_executor& executor, ProcessOptions child)
      : executor_(executor), child_(std::move(child)) {}

  std::unique_ptr<link::Link> link(const hosts::Host&) override {
    return std::make_unique<ChildLink>(Transport{executor_, {}, child_}, nullptr);
  }

 private:
  asio::any_io_executor executor_;
  ProcessOptions child_;
};

}  // namespace

ViaTemplate::ViaTemplate(std::string_view text) : text_(text) {
  try {
    words_ = split_shell_words(text);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--via: \"{}\": {}", text, error.what()));
  }
  bool names_host = false;
  for (const std::string& word : words_) {
    filled(word, [&](const std::string& name) {
      if (name != "host" && name != "user" && name != "port" && name != "worker" && name != "rank") {
        throw UsageError(fmt::format(
            "--via: unknown placeholder \"{{{}}}\" (there are {{host}}, {{user}}, {{port}} and {{worker}})",
            name));
      }
      names_host = names_host || name == "host" || name == "worker" || name == "rank";
      return name;
    });
  }
  if (!names_host) {
    throw UsageError(fmt::format(
        "--via: \"{}\" does not say where the host goes (write {{host}}, as in 'ssh {{host}}')", text));
  }
}

std::vector<std::string> ViaTemplate::words_for(const hosts::Host& host) const {
  bool takes_user = host.user.empty();
  bool takes_port = host.port == 0;
  std::vector<std::string> words;
  for (const std::string& word : words_) {
    words.push_back(filled(word, [&](const std::string& name) {
      takes_user = takes_user || name == "user";
      takes_port = takes_port || name == "port";
      if (name == "host") return hosts::address_of(host);
      if (name == "worker" || name == "rank") return std::to_string(host.worker);
      if (name == "user" && host.user.empty()) {
        throw UsageError(fmt::format("{}: \"{}\" has no user for the {{user}} of --via (write user@{})",
                                     host.source, host.name, host.name));
      }
      if (name == "user") return host.user;
      return std::to_string(host.port == 0 ? hosts::kSshPort : host.port);
    }));
  }
  if (!takes_user || !takes_port) {
    throw UsageError(fmt::format("{}: \"{}\" comes with a {}, but --via \"{}\" has no {}", host.source,
                                 host.name, takes_user ? "port" : "user", text_,
                                 takes_user ? "{port}" : "{user}"));
  }
  return words;
}

std::unique_ptr<link::Connector> make_via_connector(const asio::any_io_executor& executor, ViaTemplate via,
                                                    ProcessOptions child, TransportCommands& transports,
                                                    AliveQuestions questions) {
  child.transports = &transports;
  return std::make_unique<ViaConnector>(executor, std::move(via), std::move(child), questions);
}

std::unique_ptr<link::Connector> make_local_connector(const asio::any_io_executor& executor,
                                                      ProcessOptions child) {
  return std::make_unique<LocalConnector>(executor, std::move(child));
}

}  // namespace podrun::local
