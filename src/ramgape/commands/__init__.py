"""Arms that are commands: what `ramgape run` runs.

study_files  study files (TOML), read and checked before the first trial
trials       one trial: a command run and judged, and nothing of it left behind
watchdog     ends commands when the process that ran them was killed
"""
