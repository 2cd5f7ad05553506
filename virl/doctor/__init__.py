"""`virl doctor`: what works on this machine, what a key can reach, and what runs will cost."""
