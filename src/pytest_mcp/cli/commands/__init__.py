"""One module for each command besides serving: `add_arguments` declares its flags, `main` does it.

`main` gets what was typed and a way to settle the project, and returns the exit code. Each module is imported
only when its name is typed: the server's first answer waits for none of them.
"""
