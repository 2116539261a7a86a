"""`make tokens`: the size of answers in tokens, compared with what pytest prints for the same project."""
