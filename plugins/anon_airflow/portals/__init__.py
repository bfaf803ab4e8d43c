"""Where releases go: a portal copies files that the gate measured, and never changes a byte."""
