"""Placeholder: why changes cannot be told."""


class Refused(Exception):
    """Changes cannot be asked for here or with this ref; the message is one sentence."""


class NoRepository(Refused):
    """There is no git or no repository that it reads."""


class UnknownRef(Refused):
    """The ref that was given names no commit."""


class CannotTell(Exception):
    """What changed cannot be told; the message says why. All tests count as reached then."""
