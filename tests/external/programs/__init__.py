"""Real agent programs, with a stand-in for the model: what a model is shown of this server."""
