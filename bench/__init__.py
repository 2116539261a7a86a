"""`make bench`: the time of a call through the server, compared with pytest in a shell."""
