"""The service as operators run it: processes, signals, several workers, the compose file."""
