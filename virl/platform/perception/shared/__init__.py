"""What several models are made of: labels and boxes of detectors, towers of recognizers, DISK keypoints."""
