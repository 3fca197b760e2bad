"""The proxy node: hosts the tunnel engine in a ROS 2 lifecycle node."""
