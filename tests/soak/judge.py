"""Whether what podrun says became of each host is right for the plan of its run. Pure."""

import re

from plan import BEFORE_THE_START, FOR_EVER

NOT_REACHED = ("unreachable", "not ready")
ENDED = ("stopped by podrun", "not started")  # for no reason of the host's own


def number_of(outcome):
    """The exit status that it stands for, if it counts."""
    if outcome == "ok":
        return 0
    if outcome.startswith("exit "):
        return int(re.match(r"exit (\d+)", outcome)[1])
    if outcome.startswith("timed out"):
        return 124
    return 255 if outcome.startswith(("lost", *NOT_REACHED)) else None


class Judge:
    """`outcomes` and `culprit` are what the summary says (views.py), `spoke`: the faulty host has printed something."""

    def __init__(self, plan, outcomes, culprit, nothing_started, spoke):
        self.plan, self.outcomes, self.culprit = plan, outcomes, culprit
        self.nothing_started, self.spoke = nothing_started, spoke

    def complaints(self, status):
        if self.plan.undisturbed and all(outcome is None for outcome in self.outcomes.values()):
            yield "no summary"
        for number, outcome in self.outcomes.items():
            if outcome is not None and (wrong := self._wrong(number, outcome)):
                yield f"host {number}: {outcome}: {wrong}"
        if self.plan.undisturbed and None not in self.outcomes.values():
            numbers = [number_of(outcome) or 0 for outcome in self.outcomes.values()]
            if status != max(numbers):
                yield f"exit status {status}, but the summary stands for {max(numbers)}"

    def _wrong(self, number, outcome):
        breaks = number == self.plan.breaks
        if not breaks and outcome.startswith(("lost", *NOT_REACHED)):
            return "it is well"
        if not self.plan.undisturbed:
            return None
        if outcome in ENDED:
            return None if self._has_reason(number, outcome) else "for no reason"
        if breaks and self.plan.fault in BEFORE_THE_START:
            # A single host is not waited for: from its login on it is lost.
            return None if outcome.startswith(NOT_REACHED) or self.plan.hosts == 1 and outcome.startswith("lost") else "it was never ready"
        if breaks and self.plan.fault == "runs-without-status":
            return "it tells no status" if outcome.startswith(("ok", "exit")) else None
        if breaks and outcome.startswith(("lost", *NOT_REACHED)):
            return None
        return self._wrong_end(number, outcome)

    def _wrong_end(self, number, outcome):
        """Of a command that nobody ended."""
        status = self.plan.statuses.get(number, 0)
        own = f"exit {status}" if status else "ok"
        in_time = status or self.plan.action not in FOR_EVER
        if outcome == own and in_time or outcome.startswith("timed out") and self.plan.timeout:
            return None
        return f"expected {own if in_time else 'timed out'}"

    def _has_reason(self, number, outcome):
        """Why a host is ended, or is not started, whose own command has not failed."""
        if self.culprit is not None:
            failed = number_of(self.outcomes[self.culprit] or "ok")
            # Only in the very start a loss ends the others, when it is not known whether the command has begun there.
            very_start = self.culprit == self.plan.breaks and self.outcomes[self.culprit].startswith("lost") and not self.spoke
            return failed and (self.plan.fail_fast or very_start)
        if outcome != "not started":
            return False
        faulty = self.outcomes.get(self.plan.breaks)
        doomed = faulty is not None and faulty.startswith(NOT_REACHED) and not self.plan.skip
        if not self.plan.serial:
            return doomed and self.nothing_started
        return doomed and self._batch(number) >= self._batch(self.plan.breaks) or self._failed_before(self._batch(number))

    def _batch(self, number):
        return number // self.plan.serial

    def _failed_before(self, batch):
        """With --serial, in an earlier batch; one that is skipped is no failure."""
        earlier = [outcome for number, outcome in self.outcomes.items() if self._batch(number) < batch]
        return any(outcome and number_of(outcome) and not outcome.startswith(NOT_REACHED) for outcome in earlier)
