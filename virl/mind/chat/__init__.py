"""How chat models are asked and read: questions, requests, answers, and what goes wrong."""
