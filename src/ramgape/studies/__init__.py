"""Studies: searches that last, on which several processes work at once.

study            what users see: create, load, ask, tell, result
running          all trials of a study in one call, on any executor
report, files    how it is going; observations in files
session             a state and its store: every operation is one transaction
state           what happens to pulls, in memory
specification    what a study is to do, as text and back
pull_ids          how pulls are named, and their seeds
"""
