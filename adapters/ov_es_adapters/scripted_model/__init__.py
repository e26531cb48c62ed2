"""A model server that plays a script, so that the real agent programs run without a model."""
