// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "podrun/session/mode.hpp"
#include "podrun/session/session.hpp"
#include "podrun/top/sampling.hpp"
#include "podrun/top/top_failures.hpp"
#include "podrun/top/top_pod.hpp"

namespace podrun::top {

/// What all views of `podrun top` have in common: a run whose hosts are never ready, since their preparation
/// is the conversation with top.sh.
class SampleMode : public session::Mode, private session::HostPreparation {
 public:
  /// The arguments must outlive it.
  SampleMode(const session::RunSpec& run, const SampleRequest& request, output::Charset charset);

  std::vector<std::shared_ptr<output::Sink>> make_sinks(output::Terminal& terminal) override;
  session::HostPreparation* preparation() override { return this; }
  void notice(output::Output& output, const run::RunPolicy& policy, const run::Notice& notice) override;
  /// Says which hosts were not reached.
  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override;

 protected:
  /// A frame has come, or the connection of the host has failed.
  virtual void changed(std::size_t host) = 0;

  const session::RunSpec& run_spec() const { return run_; }
  const SampleRequest& request() const { return request_; }
  output::Charset charset() const { return charset_; }
  Pod& pod() { return pod_; }
  Sampling& sampling() { return sampling_; }
  /// Null before the run.
  output::Output* output() { return output_; }
  /// All hosts at this moment.
  void judge();

 private:
  void begin_pass(output::Output& output) override { output_ = &output; }
  link::Stage stage() const override { return kSampling; }
  asio::awaitable<void> prepare(std::size_t host, supervisor::Supervised& supervised) override;

  const session::RunSpec& run_;
  const SampleRequest& request_;
  const output::Charset charset_;
  Pod pod_;
  Sampling sampling_;
  output::Output* output_ = nullptr;
};

}  // namespace podrun::top
