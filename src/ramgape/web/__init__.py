"""A server for studies: an API over HTTP, pages that show them live, and who may do what."""
