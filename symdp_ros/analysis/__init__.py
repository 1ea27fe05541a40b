"""What can be known of the mechanisms before they run: accuracy, audit, calibration, belief."""
