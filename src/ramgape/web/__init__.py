"""A server for studies: an API under /api/v1, pages that follow a study while it goes on, and who may do what."""
