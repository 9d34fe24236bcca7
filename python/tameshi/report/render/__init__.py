"""HTML, Markdown and terminal output of reports; plots."""
