"""Who may use a server, and how much: hosts, tokens, sessions, roles, limits."""
