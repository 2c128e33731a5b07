"""Logged trials: readers, tables, missing values, and what the rows prove."""
