"""Which supplier is good, and which is good and steady? The ten lines of the README."""

import random

import ramgape

SUPPLIERS = {"Adler": (0.72, 0.30), "Borges": (0.66, 0.15), "Curie": (0.60, 0.05), "Dirac": (0.52, 0.25)}


def pull(supplier: str) -> float:
    """Try one option once: any number from 0 to 1. Here a simulation, in real life a delivery."""
    return min(1.0, max(0.0, random.gauss(*SUPPLIERS[supplier])))


random.seed(1)
result = ramgape.identify(pull, list(SUPPLIERS), reward_range=(0, 1), epsilon=0.05, delta=0.05)
print(result)
print("If it must be one:", result.best(max_risk=0.01))
result.save_plot("suppliers.png")
