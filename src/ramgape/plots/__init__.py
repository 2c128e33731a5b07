"""Figures. They take plain data and draw on given axes; `style` alone knows what they look like.

    style     colours, markers, fonts and sizes, in one place
    labels    names beside points, without overlaps
    crosses   arms as confidence crosses in the mean-risk plane

Nothing here is imported before a figure is asked for, since matplotlib is an optional dependency.
"""
