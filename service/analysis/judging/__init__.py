"""What else is wrong with a question that was refused: every part of it is judged by itself, as far as it can be read.

A use case refuses at the first step that fails. Whoever mended that alone would be told of the next, so before a refusal is told

    whole         looks at all parts of the question once more, each without the others
    ops           reads an op; what is wrong with it is mended in several ways, and only what is wrong with it each time is told too
    hardware      reads the target; a chip that is not known gives way to one that can run everything
    placing       puts what was read of the two together
    mending       says what may have been meant

A fault that may go away when another one is mended is not told. Of a question that is not refused nothing of this is done.
"""

from .agreeing import joined
from .whole import whole

__all__ = ["joined", "whole"]
