"""Evidence without arms: mixtures, bets, inversion, the drift check, and special functions."""
