"""The report of a study: `report.html`, Markdown and the terminal, and comparisons.

Everything here is a function of its inputs: the same results give the same bytes. Nothing is
imported here, for whoever formats a value needs no plots.
"""
