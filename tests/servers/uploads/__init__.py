"""Drives through a town and their pictures, as people share them."""
