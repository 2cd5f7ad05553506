"""Exhibits, maps, charts and pictures, and the shell of the pages that show them."""
