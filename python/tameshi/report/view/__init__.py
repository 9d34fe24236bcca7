"""Results as the report sees them: points, key figures, plots and tables, as plain data."""
