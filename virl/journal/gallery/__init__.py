"""One page that shows finished runs side by side. Described in `docs/gallery.md`."""
