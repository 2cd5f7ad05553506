"""Cities of open data: pictures that anybody may see, and maps that anybody may use."""
