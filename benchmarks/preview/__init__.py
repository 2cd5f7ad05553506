"""Previews of ways: what is told of crossings, benches and landmarks, against what is truly there."""
