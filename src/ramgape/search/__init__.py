"""A search: what is asked, the engine, what its data prove, and the roads that drive it."""
