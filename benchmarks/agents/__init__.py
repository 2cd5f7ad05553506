"""Score Peng, Aria, Vivek, Ling with Local, Diego and agents with tools in a made city."""
