"""`make evaluation`: the same bugs, mended once with pytest in a shell and once with this server."""
