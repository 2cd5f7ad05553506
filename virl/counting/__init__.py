"""Counting street furniture: what RX-399 and Imani have in common. Described in `docs/counting.md`."""
