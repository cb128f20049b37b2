"""From decoded text to IR: LibCST parses, one walk builds the IR, then the tree is dropped."""

from xlamig.syntax.errors import Unparsable
from xlamig.syntax.module import module_from_text
from xlamig.syntax.splice import Edit, module_from_edit

__all__ = ["Edit", "Unparsable", "module_from_edit", "module_from_text"]
