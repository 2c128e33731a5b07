"""Talking to a server of studies, `ramgape serve`: the standard library only, since a shell must not wait for more.

address       where a server is
credentials   the token that is shown to it, and where that is looked for
answers       what a server may answer, checked
connection    questions and answers, repeated until they have arrived
studies       the studies of a server by their names
"""
