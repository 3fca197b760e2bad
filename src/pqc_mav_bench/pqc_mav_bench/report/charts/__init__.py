"""The kinds of chart the report draws, each a function from plain numbers to a drawing."""
