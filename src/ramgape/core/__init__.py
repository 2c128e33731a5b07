"""The compiled core: numpy and numba only; no files, clocks, logs or checks."""
