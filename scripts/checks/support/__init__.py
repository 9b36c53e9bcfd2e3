"""What the check scripts share. Python 3 standard library only."""
