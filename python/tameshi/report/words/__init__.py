"""Words of reports in English and Japanese, and the formatting of values."""
