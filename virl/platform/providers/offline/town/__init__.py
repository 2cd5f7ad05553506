"""The town before anyone moves in: streets, blocks, buildings, furniture."""
