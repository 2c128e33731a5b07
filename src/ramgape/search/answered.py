"""What has an answer, and tells it in a plain sentence first: a result, an analysis, how a study is going."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from ramgape.search.explained import Explained

if TYPE_CHECKING:
    from ramgape.search.result import Result


class Answered(Explained):
    """What prints itself, with the answer in a sentence above all else."""

    __slots__ = ()

    @property
    @abstractmethod
    def _found(self) -> Result:
        """The result that has the answer."""

    @property
    def sentence(self) -> str:
        """The answer in plain words: what to choose, for what, and how sure that is."""
        from ramgape.views.sentence import answer_sentence

        return answer_sentence(self._found)

    def __repr__(self) -> str:
        """One line, which names the answer: a sentence may be long."""
        return f"<{type(self).__name__}: {self.explanation(ascii_only=True).brief}>"
