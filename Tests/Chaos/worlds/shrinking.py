"""Leaves out of a history what a failure does not need."""


def numbers(text):
    """Step numbers as a list of ranges: 0-4,7."""
    words, text = [], sorted(text)
    while text:
        first = last = text.pop(0)
        while text and text[0] == last + 1:
            last = text.pop(0)
        words.append(str(first) if first == last else "%d-%d" % (first, last))
    return ",".join(words)


def shrink(steps, fails, tries):
    """The shortest list of steps that is found with so many tries of `fails`, which says whether a list of steps still fails.

    Leaves out halves, then quarters, and so on, to single steps.
    """
    parts = 2
    while len(steps) > 1 and tries > 0:
        size = -(-len(steps) // parts)
        for start in range(0, len(steps), size):
            shorter = steps[:start] + steps[start + size:]
            if tries <= 0 or not shorter:
                continue
            tries -= 1
            if fails(shorter):
                steps, parts = shorter, max(2, parts - 1)
                break
        else:
            if size == 1:
                break
            parts = min(len(steps), 2 * parts)
    return steps
