"""Builders: each file makes the binary tree in one way."""
