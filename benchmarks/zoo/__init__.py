"""Small models of published packages, observed line by line on torch_xla's CPU client."""
