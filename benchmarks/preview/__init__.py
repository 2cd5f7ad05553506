"""Tell what a way is like from its pictures, and score crossings, benches and landmarks."""
