"""The same program written otherwise: do the findings stay the same?"""
