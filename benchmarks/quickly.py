"""Compile quickly on torch_xla's CPU client: programs run for a few steps, so that compiling costs most."""

XLA_FLAGS = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
