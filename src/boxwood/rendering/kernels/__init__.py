"""The loops over pixels, compiled: each file is one step from rays to colours."""
