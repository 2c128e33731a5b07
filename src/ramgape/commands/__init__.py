"""Arms that are commands: what `ramgape run` runs.

study_files  study files (TOML), read and checked before the first trial
typed        commands as they are typed, to be timed: the study that they stand for
how_timed    what may be said of such commands, beside the options of a search
trials       one trial: a command run and judged, and nothing of it left behind
watchdog     ends commands when the process that ran them was killed
times        what was measured of commands, and how much faster one is than another
exports      the same in files, in the form that hyperfine writes
"""
