"""The `graph` provider: street networks and buildings that data sets publish as panoramas and links."""
