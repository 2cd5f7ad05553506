"""What servers of shared pictures have in common: drives through a town, their pictures, and faults."""
