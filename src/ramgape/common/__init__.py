"""Small things that everything needs: checks of values, files from outside, special functions."""
