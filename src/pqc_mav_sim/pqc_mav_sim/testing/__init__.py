"""Sessions of real ground clients, for tests here and for tests through the tunnel."""
