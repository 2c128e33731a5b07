"""Searches whose truth is known: simulated, repeated, planned, and how few trials could suffice."""
