"""Dollars: prices, what was spent, and the ledger that keeps both."""
