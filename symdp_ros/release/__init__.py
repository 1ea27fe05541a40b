"""Releases of logged patrols, and the ledger that makes repeated releases add up."""
