"""Where episodes run: in threads, in processes, or on a cluster; the same loop gives them out."""
