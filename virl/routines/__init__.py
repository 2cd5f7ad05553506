"""What each agent does, a folder each; see `virl.agent.routine` for their shape."""
