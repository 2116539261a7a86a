"""How often the function with a real bug is among the suspects, and what tracing costs."""
