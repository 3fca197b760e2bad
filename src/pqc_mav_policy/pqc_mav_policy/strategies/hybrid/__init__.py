"""The hybrid: the expert decides, the learned table breaks its ties."""
