"""Samples, and what is said of them."""

from statistics import median, quantiles


def amount(value: float) -> str:
    """Three digits that count, and no more."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def spread(samples: list[float], unit: str, scale: float = 1.0) -> str:
    """The median, and the quartiles around it."""
    low, middle, high = quantiles((sample / scale for sample in samples), n=4)
    return f"{amount(middle)} {unit} ({amount(low)}–{amount(high)})"


def noise(samples: list[float]) -> str:
    """How far the quartiles are apart, as a share of the median."""
    low, middle, high = quantiles(samples, n=4)
    return f"{(high - low) / middle:.0%}"


def ratio(ours: list[float], base: list[float], parts: int = 10) -> tuple[float, str]:
    """The ratio of the medians; as text with the lowest and highest of so many parts of the run."""
    whole = median(ours) / median(base)
    size = max(1, len(ours) // parts)
    cuts = [slice(at, at + size) for at in range(0, len(ours) - size + 1, size)]
    each = [median(ours[cut]) / median(base[cut]) for cut in cuts]
    return whole, f"{whole:.2f} × ({min(each):.2f}–{max(each):.2f})"
