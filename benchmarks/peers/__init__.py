"""The libraries that pol is measured beside, a file for each."""
