"""The use cases: what the API, the command line and the page ask for, each as one function."""
