"""How chat models are asked and read: providers, questions, schemas, endings, what they can take."""
