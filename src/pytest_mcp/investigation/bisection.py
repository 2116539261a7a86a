"""Find a smallest set of things that still has an effect, by trying subsets.

All candidates together have the effect; an oracle tries some of them. It knows nothing of tests. Every subset that is
tried keeps the order of the candidates, and no subset is tried twice. A try without an outcome rules nothing out.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

# A larger set is not tried again without each of its things: that would take too many tries.
MAX_DROPPED = 16

Thing = TypeVar("Thing")


class Search(Generic[Thing]):
    """`left` is what could not be ruled out, if the oracle raises in between. It says None if nothing is known."""

    def __init__(
        self, candidates: Sequence[Thing], has_effect: Callable[[Sequence[Thing]], Awaitable[bool | None]]
    ) -> None:
        self.candidates = list(candidates)
        self.has_effect = has_effect
        everything = tuple(range(len(self.candidates)))
        self.tried: dict[tuple[int, ...], bool | None] = {everything: True}
        # The smallest set that was seen to have the effect.
        self._best = everything
        self._left = everything

    @property
    def left(self) -> list[Thing]:
        return [self.candidates[index] for index in min(self._left, self._best, key=len)]

    async def run(self) -> list[Thing]:
        await self._halve()
        if len(self._best) > 1:
            await self._try(tuple(await self._narrow((), False, self._best)))
            await self._drop_each()
        return [self.candidates[index] for index in self._best]

    async def _halve(self) -> None:
        """One thing alone is the usual case: if one half has no effect, the other is taken to have it.

        So each try is half as long as the one before. Whether it was so is seen in the end.
        """
        while len(self._left) > 1 and (half := await self._guilty_half()):
            self._left = half
        if len(self._left) > 1 or (self._left and not await self._try(self._left)):
            self._left = self._best

    async def _guilty_half(self) -> tuple[int, ...] | None:
        """Told by the second; by the first if nothing is known of the second. None if neither tells."""
        middle = len(self._left) // 2
        first, second = self._left[:middle], self._left[middle:]
        for half, other in ((second, first), (first, second)):
            if (has_effect := await self._try(half)) is not None:
                return half if has_effect else other
        return None

    async def _narrow(self, given: tuple[int, ...], is_new: bool, among: tuple[int, ...]) -> tuple[int, ...]:
        """Which of `among` are needed beside the given ones (QuickXplain, Junker 2004)."""
        if is_new and await self._try(given):
            return ()
        if len(among) == 1:
            return among
        first, second = among[: len(among) // 2], among[len(among) // 2 :]
        needed_second = await self._narrow(_united(given, first), True, second)
        needed_first = await self._narrow(_united(given, needed_second), bool(needed_second), first)
        return _united(needed_first, needed_second)

    async def _drop_each(self) -> None:
        """If the effect of a set says nothing about larger ones, narrowing alone may keep too many."""
        for index in self._best if len(self._best) <= MAX_DROPPED else ():
            if len(self._best) > 1:
                await self._try(tuple(other for other in self._best if other != index))

    async def _try(self, chosen: tuple[int, ...]) -> bool | None:
        if chosen not in self.tried:
            self.tried[chosen] = await self.has_effect([self.candidates[index] for index in chosen])
        if self.tried[chosen] and len(chosen) < len(self._best):
            self._best = chosen
        return self.tried[chosen]


def _united(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted({*one, *other}))
