"""xlamig: what stands between PyTorch GPU code and a TPU."""

__version__ = "0.1.0"
