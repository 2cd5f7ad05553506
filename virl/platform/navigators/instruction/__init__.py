"""Navigators that follow an instruction."""
