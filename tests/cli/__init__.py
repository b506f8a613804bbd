"""The command line, as people and programs use it: real processes, real terminals."""
