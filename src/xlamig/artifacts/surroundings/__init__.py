"""Images, scripts, settings of clusters and launchers, to `environment` facts."""
