"""Which supplier delivers soon, and which soon and reliably? The ten lines of the README."""

import random

import ramgape

SUPPLIERS = {"Adler": (9, 4.0), "Borges": (11, 2.5), "Curie": (13, 1.0), "Dirac": (15, 5.0)}


def pull(supplier: str) -> float:
    """Try one option once: days until delivery, from 0 to 30. Here a simulation, in real life an order."""
    return min(30.0, max(0.0, random.gauss(*SUPPLIERS[supplier])))


random.seed(1)
result = ramgape.identify(pull, list(SUPPLIERS), reward_range=(0, 30), direction="minimize", epsilon=1, delta=0.05)
print(result)
print("If it must be one:", result.best(max_risk=3))
result.save_plot("suppliers.png")
