"""pytest for AI agents: an MCP server that discovers and runs a project's tests, and nothing else."""

__version__ = "0.1.0"
