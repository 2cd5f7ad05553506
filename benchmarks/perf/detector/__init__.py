"""The detector that ships as `rendered`: its data, network, training, export and scores."""
