#!/usr/bin/env python3
"""Makes activations.npy (256x64, f32) and w.npy (64, f32) of the examples.

The activations are those of a small random network on a real text, this
repository's LICENSE: a byte embedding, a window over the bytes before, and a
gated layer. As in trained models, rows that see similar text are alike, and a
few channels are much larger than the others.

The files are the same to the bit on every machine: products and sums are of
integers, the random numbers are from NumPy's frozen generator, and what is left
uses only the operations that IEEE 754 defines exactly.
"""

import argparse
import pathlib

import numpy as np

ROWS = 256  # positions in the text
WIDTH = 64  # channels
EMBEDDING = 32
WINDOW = 16  # bytes that a position sees
OUTLIERS = {5: 8, 41: 12}  # channel: how much larger than the others


def read_windows(path):
    """The last WINDOW bytes at each of ROWS positions spread over a text."""
    text = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    ends = WINDOW + np.arange(ROWS) * (len(text) - WINDOW) // (ROWS - 1)
    return text[ends[:, None] + np.arange(-WINDOW, 0)]


def make_activations(windows, random):
    """Embeds the bytes, weighs the nearer ones more, and gates."""
    embedding = random.randint(-8, 9, size=(256, EMBEDDING)).astype(np.int64)
    value = random.randint(-8, 9, size=(EMBEDDING, WIDTH)).astype(np.int64)
    gate = random.randint(-8, 9, size=(EMBEDDING, WIDTH)).astype(np.int64)

    nearness = np.arange(1, WINDOW + 1)
    context = np.einsum("rwe,w->re", embedding[windows], nearness)
    # Powers of two that bring both close to 1 in size.
    values = (context @ value) / 2.0**12
    gates = (context @ gate) / 2.0**11
    # x * sigmoid(x) with the algebraic sigmoid, which needs no exp.
    opened = 0.5 + 0.5 * gates / (1 + np.abs(gates))
    activations = values * opened
    for channel, factor in OUTLIERS.items():
        activations[:, channel] *= factor
    return activations.astype(np.float32)


def make_weight(random):
    """Weights around 0, for an offset of 1."""
    return (random.randint(-16, 17, size=WIDTH) / 64.0).astype(np.float32)


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--output", type=pathlib.Path, default=here,
                        help="the folder to write to (default: this one)")
    folder = parser.parse_args().output

    random = np.random.RandomState(20)
    windows = read_windows(here.parents[1] / "LICENSE")
    np.save(folder / "activations.npy", make_activations(windows, random))
    np.save(folder / "w.npy", make_weight(random))


if __name__ == "__main__":
    main()
