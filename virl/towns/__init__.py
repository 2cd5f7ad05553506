"""Drawn towns: their plan, life, truth and rendering; made towns and twins stand on them."""
