"""Figures. They take plain data and draw on given axes; `style` alone knows what they look like.

    style      colours, markers, fonts and sizes, in one place
    policies   how each sampling rule looks, in every figure alike
    methods    the same for a bound with a sampling rule
    ticks      numbers on axes
    labels     names beside points, without overlaps
    crosses    arms as confidence crosses in the mean-risk plane
    lines      what an answer goes by in that plane: a ceiling, a floor, equal scores, a control
    control    arms against a control, a row for each
    answers    the picture of a result: the plane, or arms against a control
    scatter    two rules on the same instances
    curves     what changes from pull to pull
    intervals  estimates with their intervals, one row per rule
    runs       many runs, and the shares of a lower bound
    plan       what to expect of a search before its first trial
    sweep      what happens as one constant is turned up
    shares     how the pulls were divided, trial by trial
    geometry   the paper's gaps as lengths
    caps       runs against a bound on their pulls
    samples    what methods need until they stop, beside a lower bound or a reference
    ratios     one method against another, instance by instance
    failures   how often runs failed, against a bound on the chance of that

Nothing here is imported before a figure is asked for, since matplotlib is an optional dependency.
"""
