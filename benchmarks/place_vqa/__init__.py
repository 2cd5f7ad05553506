"""V-IRL place VQA (section 5.3): which wish does the place in a photo fulfil?"""
