"""`make tokens`: what an answer costs a model to read, next to what pytest prints for the same project."""
