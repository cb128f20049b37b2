"""The Model Context Protocol server: `xlamig mcp`, for coding agents, over stdin and stdout."""
