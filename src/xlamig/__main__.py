"""`python -m xlamig`"""

from xlamig.cli import script

script()
