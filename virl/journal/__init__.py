"""The record of a run: journal, resume, report."""
