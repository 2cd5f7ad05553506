"""V-IRL place recognition (section 5.2): of what type is the place in a photo?"""
