"""Speed and legibility of single parts, as ratios and rates."""
