"""A roofline of results as an SVG: operations a second against operations for
each byte, both on logarithmic scales. Every case is a number, which is said on
the right."""

import html
import math

_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 1560, 90, 1040, 60, 80
_LINE = 13.5
_COLOURS = {"rms_norm": "#0b6fb8", "layer_norm": "#c2410c",
            "softmax": "#15803d", "attention": "#7c3aed",
            "decode_attention": "#be123c"}


class _Axes:
    """Where numbers are in the picture. x and y: the ticks of each axis."""

    def __init__(self, xs, ys, height):
        self.bottom = height - _BOTTOM
        self.x, self.y = self._ticks(xs), self._ticks(ys)

    @staticmethod
    def _ticks(values):
        """1, 2, 5, 10 and so on, from the one below to the one above."""
        low, high = min(values) / 1.05, max(values) * 1.05
        every = [step * 10.0**power for power in range(-9, 10)
                 for step in (1, 2, 5)]
        first = max(i for i, tick in enumerate(every) if tick <= low)
        last = min(i for i, tick in enumerate(every) if tick >= high)
        return every[first:last + 1]

    def at(self, x, y):
        def share(value, ticks):
            return (math.log(value / ticks[0])
                    / math.log(ticks[-1] / ticks[0]))

        return (_LEFT + share(x, self.x) * (_RIGHT - _LEFT),
                self.bottom - share(y, self.y) * (self.bottom - _TOP))


def _text(x, y, text, size=13, **attributes):
    more = "".join(f' {k.replace("_", "-")}="{v}"'
                   for k, v in attributes.items())
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}"{more}>'
            f"{html.escape(text)}</text>")


def _line(x1, y1, x2, y2, colour, width=1.0, **attributes):
    more = "".join(f' {k.replace("_", "-")}="{v}"'
                   for k, v in attributes.items())
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            f'stroke="{colour}" stroke-width="{width}"{more}/>')


def _shade(tick):
    """Powers of ten stand out."""
    power = math.log10(tick)
    return "#c9ced6" if abs(power - round(power)) < 1e-6 else "#e9ecf0"


def _grid(axes):
    parts = []
    for value in axes.x:
        x, _ = axes.at(value, axes.y[0])
        parts.append(_line(x, _TOP, x, axes.bottom, _shade(value)))
        parts.append(_text(x, axes.bottom + 20, f"{value:g}", 12,
                           text_anchor="middle", fill="#333"))
    for value in axes.y:
        _, y = axes.at(axes.x[0], value)
        parts.append(_line(_LEFT, y, _RIGHT, y, _shade(value)))
        parts.append(_text(_LEFT - 8, y + 4, f"{value:g}", 12,
                           text_anchor="end", fill="#333"))
    middle = (_LEFT + _RIGHT) / 2
    parts.append(_text(middle, axes.bottom + 46,
                       "arithmetic intensity, FLOP/byte", 14,
                       text_anchor="middle"))
    across = (axes.bottom + _TOP) / 2
    parts.append(_text(26, across, "GFLOP/s", 14, text_anchor="middle",
                       transform=f"rotate(-90 26 {across:.0f})"))
    return parts


def _roofs(axes, limits):
    """The multiply-adds, and each bandwidth up to where they meet."""
    parts, labels = [], []
    peak = limits["fma"] / 1e9
    x0, x1, low = axes.x[0], axes.x[-1], axes.y[0]
    slow = min(limits[n] for n in ("read", "nt_copy"))
    left, y = axes.at(max(peak / (slow / 1e9) / 4, x0), peak)
    right, _ = axes.at(x1, peak)
    parts.append(_line(left, y, right, y, "#111", 1.6))
    labels.append((right - 6, y - 7, f"f32 multiply-adds, {peak:.0f} GFLOP/s",
                   "end", None))
    for name, text, dash in (("read", "read", "7 4"),
                             ("nt_copy", "non-temporal copy", "none")):
        rate = limits[name] / 1e9
        begin = max(x0, low / rate)
        ax, ay = axes.at(begin, begin * rate)
        bx, by = axes.at(peak / rate, peak)
        parts.append(_line(ax, ay, bx, by, "#111", 1.6, stroke_dasharray=dash))
        angle = math.degrees(math.atan2(by - ay, bx - ax))
        # Above the line of the faster one, below that of the other.
        other = limits["nt_copy" if name == "read" else "read"]
        away = -6 if limits[name] >= other else 16
        turned = math.radians(angle)
        labels.append((ax + (bx - ax) * 0.82 - away * math.sin(turned),
                       ay + (by - ay) * 0.82 + away * math.cos(turned),
                       f"{text}, {rate:.1f} GB/s", "middle", angle))
    for x, y, text, anchor, angle in labels:
        turn = {} if angle is None else {
            "transform": f"rotate({angle:.1f} {x:.1f} {y:.1f})"}
        parts.append(_text(x, y, text, 12.5, text_anchor=anchor, **turn))
    return parts


def _marker(x, y, colour, grad, filled):
    paint = (f'fill="{colour}" stroke="#fff" stroke-width="0.8"' if filled else
             f'fill="none" stroke="{colour}" stroke-width="1.3"')
    if grad:
        return (f'<rect x="{x - 4.2:.1f}" y="{y - 4.2:.1f}" width="8.4" '
                f'height="8.4" {paint}/>')
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.8" {paint}/>'


def _overlap(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _place(points, occupied):
    """A place for each point's number, as near as there is one."""
    placed = []
    for x, y, number in points:
        width = 7.2 * len(number) + 3
        best = None
        for radius in range(11, 160, 5):
            for step in range(0, 24):
                # To the right first, then all around.
                angle = math.pi / 12 * ((step + 1) // 2) * (-1)**step
                cx, cy = (x + radius * math.cos(angle),
                          y + radius * math.sin(angle))
                box = (cx - width / 2, cy - 6.5, cx + width / 2, cy + 6.5)
                if box[0] < _LEFT or box[2] > _RIGHT or any(
                        _overlap(box, other) for other in occupied):
                    continue
                best = (cx, cy, box)
                break
            if best:
                break
        cx, cy, box = best or (x, y, (x, y, x, y))
        occupied.append(box)
        placed.append((x, y, cx, cy, number))
    return placed


def _median(timing):
    return timing.get("median") if timing else None


def _points(rows):
    """For each row: intensity, GFLOP/s of pol and of the best peer, or None."""
    found = []
    for row in rows:
        rates = []
        for timing in (row["pol"], row["peers"].get(row["best_peer"])):
            median = _median(timing)
            rates.append(row["flops"] / median / 1e9 if median else None)
        found.append((row["flops"] / row["bytes"], *rates))
    return found


def _legend(rows, found):
    parts = [_text(_RIGHT + 30, _TOP + 4, "of limit", 11.5, fill="#333"),
             _text(_RIGHT + 88, _TOP + 4, "case", 11.5, fill="#333")]
    for i, (row, point) in enumerate(zip(rows, found)):
        y = _TOP + 22 + i * _LINE
        base = row["kernel"].removesuffix("_grad")
        colour = _COLOURS[base]
        share = row["pol"].get("of_limit")
        parts.append(_text(_RIGHT + 66, y, "" if share is None
                           else f"{share:.2f}", 11.5, text_anchor="end",
                           fill="#333"))
        parts.append(_marker(_RIGHT + 78, y - 4, colour,
                             row["kernel"] != base, point[1] is not None))
        parts.append(_text(_RIGHT + 88, y,
                           f"{i + 1}  {row['kernel']} {row['shape']} "
                           f"{row['dtype']}", 11.5, fill="#111"))
    return parts


def _key(axes):
    """What markers mean."""
    y = axes.bottom + 70
    parts, x = [], _LEFT
    for grad, filled, text in ((False, True, "pol, forward"),
                               (True, True, "pol, backward"),
                               (False, False, "best peer, forward"),
                               (True, False, "best peer, backward")):
        parts.append(_marker(x + 6, y - 4, "#333", grad, filled))
        parts.append(_text(x + 18, y, text, 12.5))
        x += 150
    return parts


def svg(results):
    """The picture, as text."""
    rows = results["rows"]
    found = _points(rows)
    rates = [r for point in found for r in point[1:] if r]
    limits = results["limits"]
    height = max(900, int(_TOP + 40 + len(rows) * _LINE + 30))
    axes = _Axes([p[0] for p in found], [*rates, limits["fma"] / 1e9], height)
    threads = results["threads"]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" '
        f'height="{height}" viewBox="0 0 {_WIDTH} {height}" '
        'font-family="DejaVu Sans, Helvetica, Arial, sans-serif">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
        _text(_LEFT, 30, f"{results['cpu']}, {threads} "
              f"thread{'s' if threads > 1 else ''}: pol and the best of its "
              "peers", 16)]
    parts += _grid(axes) + _roofs(axes, limits)
    markers, wanted, occupied = [], [], []
    for i, (row, (x, pol, peer)) in enumerate(zip(rows, found)):
        base = row["kernel"].removesuffix("_grad")
        grad, colour = row["kernel"] != base, _COLOURS[base]
        places = [axes.at(x, rate) if rate else None for rate in (pol, peer)]
        if all(places):
            markers.append(_line(*places[0], *places[1], colour, 0.8,
                                 stroke_opacity=0.35))
        for place, filled in zip(places, (True, False)):
            if place:
                markers.append(_marker(*place, colour, grad, filled))
                occupied.append((place[0] - 5, place[1] - 5, place[0] + 5,
                                 place[1] + 5))
        named = places[0] or places[1]
        if named:
            wanted.append((*named, str(i + 1)))
    labels = []
    for x, y, cx, cy, number in _place(wanted, occupied):
        if math.hypot(cx - x, cy - y) > 14:
            labels.append(_line(x, y, cx, cy, "#888", 0.5))
        labels.append(_text(cx, cy + 4, number, 11.5, text_anchor="middle",
                            stroke="#fff", stroke_width=3,
                            paint_order="stroke", fill="#111"))
    parts += markers + labels + _legend(rows, found) + _key(axes)
    return "\n".join([*parts, "</svg>", ""])
