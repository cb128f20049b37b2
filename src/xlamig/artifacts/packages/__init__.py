"""Requirements, wherever they are written, to `package` facts."""
