"""Element types by their MLIR names, and their .npy files.

NumPy has no bf16. Here an array of bf16 is a float32 array whose values bf16
has, and files hold its upper 16 bits as '|V2', which is how NumPy writes the
bfloat16 of ml_dtypes.
"""

import numpy as np

NUMPY = {
    "f16": np.dtype("<f2"),
    "bf16": np.dtype("<f4"),
    "f32": np.dtype("<f4"),
    "f64": np.dtype("<f8"),
    "i1": np.dtype("|b1"),
    "i8": np.dtype("|i1"),
    "i16": np.dtype("<i2"),
    "i32": np.dtype("<i4"),
    "i64": np.dtype("<i8"),
    "index": np.dtype("<i8"),
}

# The smallest positive value of the float types, a subnormal.
SMALLEST = {"f16": 2.0**-24, "bf16": 2.0**-133, "f32": 2.0**-149,
            "f64": 2.0**-1074}

_BF16_FILE = np.dtype("V2")


def bf16_bits(values):
    """The bits of the nearest bf16, ties to even; a NaN stays one."""
    bits = np.asarray(values, dtype=np.float32, order="C").view(np.uint32)
    bits = bits.astype(np.int64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    # A NaN's low bits must not be all that is left of it.
    quiet = (bits >> 16) | 0x40
    nan = (bits & 0x7FFFFFFF) > 0x7F800000
    return np.where(nan, quiet, rounded).astype(np.uint16)


def bf16_values(bits):
    # A shift by a plain 16 would widen an array of rank 0.
    wide = np.left_shift(bits.astype(np.uint32), np.uint32(16))
    return np.asarray(wide, dtype=np.uint32).view(np.float32)


def round_to(values, dtype):
    """The values as an array of that type holds them."""
    with np.errstate(over="ignore"):
        if dtype == "bf16":
            return bf16_values(bf16_bits(np.asarray(values)))
        return np.asarray(values).astype(NUMPY[dtype])


# What memory holds of a type: the bits, for bf16.
STORED = {**NUMPY, "bf16": np.dtype("<u2")}


def encode(values, dtype):
    """The array in memory of values that the type has."""
    if dtype == "bf16":
        return bf16_bits(values)
    return np.asarray(values).astype(NUMPY[dtype])


def decode(stored, dtype):
    """The values of an array in memory."""
    return bf16_values(stored) if dtype == "bf16" else np.array(stored)


def save(path, array, dtype):
    if dtype == "bf16":
        bits = bf16_bits(array)
        np.save(path, np.frombuffer(bits.tobytes(), _BF16_FILE)
                .reshape(array.shape))
        return
    np.save(path, np.asarray(array).astype(NUMPY[dtype]))


def load(path):
    """The values of a file and the name of their type."""
    array = np.load(path)
    if array.dtype == _BF16_FILE:
        bits = np.frombuffer(array.tobytes(), np.uint16)
        return bf16_values(bits).reshape(array.shape), "bf16"
    for name, dtype in NUMPY.items():
        if name != "bf16" and array.dtype == dtype:
            return array, name
    raise ValueError(f"{path}: unexpected element type {array.dtype}")
