"""How long each step of ending a run may take, and the sum of them. Standard library only.

The supervisor takes these steps and the server waits for their sum, so both use these numbers. An answer must come
at most five seconds after the time limit, so the sum stays below that.
"""

# At the time limit the child gets SIGINT, so that pytest writes its summary. After the grace it gets SIGABRT, so that
# the stacks are printed. After that it is killed.
GRACE_SECONDS = 2.0
ABORT_SECONDS = 0.5
# The same grace if a person interrupts the run: fixtures may have containers to take down, and who is in a hurry
# interrupts a second time.
INTERRUPT_SECONDS = 30.0
# How long helper processes of a child that exited by itself may take to notice that and exit.
HELPER_SECONDS = 0.3
# Killing is repeated until nothing is left, but no longer than this. What is left then is reported.
SWEEP_SECONDS = 1.5
# The same for a run that ended by itself before its time limit: processes die late on a busy machine.
UNHURRIED_SWEEP_SECONDS = 10.0
# Normally nobody holds the pipes any more when they are drained; this is the limit if somebody does.
DRAIN_SECONDS = 0.3
# For starting and ending processes on a busy machine.
MARGIN_SECONDS = 0.5

# From the time limit to the supervisor's answer.
OVERTIME_SECONDS = GRACE_SECONDS + ABORT_SECONDS + SWEEP_SECONDS + DRAIN_SECONDS + MARGIN_SECONDS
# From an interruption to the supervisor's answer.
INTERRUPTION_SECONDS = INTERRUPT_SECONDS + OVERTIME_SECONDS - GRACE_SECONDS
# From the order to stop to the supervisor's end.
STOP_SECONDS = SWEEP_SECONDS + DRAIN_SECONDS + MARGIN_SECONDS


def end_of_killing(now: float, deadline: float) -> float:
    """When to give up killing what a run has left that ended by itself before its deadline."""
    return max(now + SWEEP_SECONDS, min(now + UNHURRIED_SWEEP_SECONDS, deadline))
