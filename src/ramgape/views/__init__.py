"""How a result, a plan, a study, ... is shown: as plain text, in a rich console, and as HTML in a notebook.

    explanation   what is said of something, in a form that every renderer understands
    text  console  notebook    the renderers: they dress an explanation, and all three show the same
    result  analysis  study  forecast  replication  lower_bound    what is said of each
    content  table             the words of a result, and its table of arms
    terminal                   where text goes, and what is shown while something runs
    plots/                     figures

Loaded only when something is shown: whoever asks for a pull, or for help, needs the terminal alone.
"""
