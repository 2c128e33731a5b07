"""Where calls are made: here, in threads, on an event loop, on any executor, on Dask, on Ray.

Machines of a cluster import this package to make a trial, and `trial.py` in it; so nothing is imported here.
"""
