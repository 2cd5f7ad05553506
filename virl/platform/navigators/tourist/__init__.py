"""V-IRL's vision-language navigator: follows directions by sight, as its tourist Ling does (appendix B.7)."""
