"""Readers (OCR): what text stands in a picture."""
