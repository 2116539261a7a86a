"""Real bugs in real libraries: what our answer costs and shows, next to pytest and to other tools for agents."""
