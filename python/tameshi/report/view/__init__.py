"""Results as the report sees them: points, facts, figures and tables, as plain data."""
