"""The language server: `xlamig server`, LSP 3.17 over stdin and stdout."""
