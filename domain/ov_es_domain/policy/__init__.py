"""The rules that look at more than one aggregate: pure functions from facts to a decision."""
