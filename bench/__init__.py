"""`make bench`: what a call through the server costs, next to pytest as it is typed in a shell."""
