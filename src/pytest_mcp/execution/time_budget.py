"""How long each step of ending a run may take, and what that adds up to. Standard library only.

The supervisor takes these steps, and the server waits for their sum: neither has a number of its own. An answer is
due five seconds after the time limit at the latest, so the sum stays below that.
"""

# At the time limit the child gets SIGINT, so that pytest writes its summary; this long later SIGABRT, so that
# the stacks are printed; this long later the end.
GRACE_SECONDS = 2.0
ABORT_SECONDS = 0.5
# What the helpers of a child that left by itself may take to notice that it has gone.
HELPER_SECONDS = 0.3
# Killing is repeated until nothing is left, but no longer than this. What is left then is told.
SWEEP_SECONDS = 1.5
# Nobody who could hold the pipes is left when they are drained; this only bounds the unexpected.
DRAIN_SECONDS = 0.3
# For a busy machine to start and end processes in between.
MARGIN_SECONDS = 0.5

# From the time limit to the supervisor's answer.
OVERTIME_SECONDS = GRACE_SECONDS + ABORT_SECONDS + SWEEP_SECONDS + DRAIN_SECONDS + MARGIN_SECONDS
# From the order to stop to the supervisor's end.
STOP_SECONDS = SWEEP_SECONDS + DRAIN_SECONDS + MARGIN_SECONDS
