"""What is done with the project rather than by the package."""
