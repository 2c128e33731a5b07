"""How fast ramgape is, as ratios within one run, because machines are shared and noisy: `python -m benchmarks`.

    measure    a measurement, a row of the report, and two things timed in turn
    draws      the unit of most ratios: one draw of a reward in a compiled loop
    rounds     whole rounds of every policy, in draws
    bounds     what a bound does with one reward, in draws
    speedup    the compiled loop against a plain NumPy loop
    asking     ask and tell, and `identify`, from Python
    starting   new processes: the way to the first pull, and the command's help
    first_use  a fresh environment: CPU seconds of every first command, packages, megabytes

That plain loop is the reference implementation of the tests, `tests/reference/search.py`.
"""
