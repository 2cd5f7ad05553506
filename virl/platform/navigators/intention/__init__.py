"""Walking towards what an intention is about, choosing roads by what is seen down them."""
