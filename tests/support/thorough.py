"""How many examples the properties have on which the most depends: with `make fuzz`, many more than usual."""

from hypothesis import settings


def thorough(examples: int) -> settings:
    return settings(max_examples=examples * (50 if settings.get_current_profile_name() == "fresh" else 1))
