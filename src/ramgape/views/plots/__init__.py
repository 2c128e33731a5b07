"""Figures. They take plain data and draw on given axes; `style` alone knows what they look like.

    style      colours, markers, fonts and sizes, in one place
    ticks      numbers on axes
    labels     names beside points, without overlaps
    crosses    arms as confidence crosses in the mean-risk plane
    lines      what an answer goes by in that plane: a ceiling, a floor, equal scores, a control
    control    arms against a control, a row for each
    answers    the picture of a result: the plane, or arms against a control
    runs       many runs, and the shares of a lower bound
    plan       what to expect of a search before its first trial

Nothing here is imported before a figure is asked for, since matplotlib is an optional dependency.
"""
