"""A shop that sells tea."""
