"""The pure core of ov-es: aggregates as deciders, and the policies between them."""
