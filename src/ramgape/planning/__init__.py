"""Before a search: what it may take, and how little could suffice."""
