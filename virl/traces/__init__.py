"""OpenTelemetry spans and metrics of runs, and their exporters."""
