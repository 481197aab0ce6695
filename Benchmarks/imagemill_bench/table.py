"""Rows of text as a table, for a terminal and for Markdown, and how figures are written."""

Rows = list[list[str]]


def plain(header: list[str], rows: Rows) -> str:
    columns = [aligned(list(cells)) for cells in zip(header, *rows)]
    lines = ["  ".join(cells).rstrip() for cells in zip(*columns)]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def aligned(cells: list[str]) -> list[str]:
    """A column below its header; figures to the right."""
    width = max(map(len, cells))
    are_figures = all(cell[0] in "+-0123456789" for cell in cells[1:] if cell)
    return [cell.rjust(width) if are_figures else cell.ljust(width) for cell in cells]


def markdown(header: list[str], rows: Rows) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, ["---"] * len(header), *rows])


def figure(value: float | None, suffix: str = "") -> str:
    """Three digits, or all before the point."""
    if value is None:
        return ""
    decimals = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{decimals}f}{suffix}"


def verdict(met: bool) -> str:
    return "met" if met else "missed"
