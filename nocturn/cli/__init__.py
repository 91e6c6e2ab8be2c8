"""The command line: words, codes and layout; what is done is the workspace's business."""
