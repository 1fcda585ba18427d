"""Calls compiled random programs: arguments, spaces, and what came out."""

import ctypes
import dataclasses
import mmap
import random

import numpy as np

import model

_PAGE = mmap.PAGESIZE
_libc = ctypes.CDLL(None, use_errno=True)
_STORED = {"f32": np.float32, "f64": np.float64, "i8": np.uint8,
           "bf16": np.uint16, "i64": np.int64}

OK, OUT_OF_MEMORY, INVALID_SIZE = 0, 1, 2


class Error(ctypes.Structure):
    """pol_error of pol/Runtime/Error.h."""

    _fields_ = [("code", ctypes.c_int32), ("wanted", ctypes.c_int64),
                ("available", ctypes.c_int64), ("what", ctypes.c_char * 192),
                ("location", ctypes.c_char * 192)]


class ArenaStruct(ctypes.Structure):
    """pol_arena of pol/Runtime/Arena.h."""

    _fields_ = [("ops", ctypes.c_void_p), ("observer", ctypes.c_void_p),
                ("observer_user", ctypes.c_void_p), ("base", ctypes.c_void_p),
                *((name, ctypes.c_int64) for name in (
                    "capacity", "alignment", "offset", "peak", "epoch"))]


def load(runtime, poison):
    """Loads the runtime and the spaces that poison; returns both."""
    runtime = ctypes.CDLL(str(runtime), mode=ctypes.RTLD_GLOBAL)
    runtime.pol_arena_carve.restype = ctypes.c_void_p
    poison = ctypes.CDLL(str(poison))
    for name in ("heap_new", "arena_new", "arena_inner"):
        getattr(poison, f"poison_{name}").restype = ctypes.c_void_p
    for name in ("heap_delete", "heap_live", "heap_carves"):
        getattr(poison, f"poison_{name}").restype = ctypes.c_int64
    return runtime, poison


# ------------------------------------------------------------------------------
# Spaces
# ------------------------------------------------------------------------------


class Arena:
    """An arena of so many bytes, full of a pattern, between pages that may not
    be touched. poisoned: by what is given and taken back, too."""

    def __init__(self, libraries, size, pattern, poisoned=False):
        self.runtime, self.poison = libraries
        self.pattern = pattern
        rounded = -(-size // 256) * 256
        pages = max(-(-rounded // _PAGE), 1)
        self.memory = mmap.mmap(-1, (pages + 2) * _PAGE)
        raw = np.frombuffer(self.memory, np.uint8)
        self._address = raw.ctypes.data
        for page in (self._address, self._address + (pages + 1) * _PAGE):
            self._protect(page, 0)
        begin = _PAGE + pages * _PAGE - rounded
        self._rest = raw[begin + size:begin + rounded]
        self._inside = raw[begin:begin + size]
        raw[_PAGE:begin + rounded] = pattern
        self._before = raw[_PAGE:begin]
        self._last_page = self._address + (pages + 1) * _PAGE
        memory = ctypes.c_void_p(self._address + begin)
        self._poisoned = None
        if poisoned:
            self._poisoned = ctypes.c_void_p(self.poison.poison_arena_new(
                memory, ctypes.c_int64(size), pattern))
            self.struct = ctypes.cast(
                self.poison.poison_arena_inner(self._poisoned),
                ctypes.POINTER(ArenaStruct)).contents
        else:
            self.struct = ArenaStruct()
            made = self.runtime.pol_arena_init(
                ctypes.byref(self.struct), memory, ctypes.c_int64(size),
                ctypes.c_int64(0))
            assert made == 0
        assert self.struct.capacity == size

    def _protect(self, page, how):
        if _libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(_PAGE), how):
            raise OSError(ctypes.get_errno(), "mprotect")

    def pointer(self):
        return self._poisoned or ctypes.byref(self.struct)

    def carve(self, size):
        assert self.runtime.pol_arena_carve(
            ctypes.byref(self.struct), ctypes.c_int64(size), ctypes.c_int64(0))

    def state(self):
        return self.struct.offset, self.struct.peak, self.struct.epoch

    def untouched(self):
        """Whether all of it is still what it was at first."""
        return bool((self._inside == self.pattern).all())

    def close(self):
        """What is wrong with what is around it, "" for nothing."""
        whole = ((self._rest == self.pattern).all()
                 and (self._before == self.pattern).all())
        if self._poisoned:
            self.poison.poison_arena_delete(self._poisoned)
        return "" if whole else "memory next to the arena was written"


class Heap:
    """A heap that poisons, and looks for what is freed twice and the like."""

    def __init__(self, libraries, pattern):
        _, self.poison = libraries
        self._heap = ctypes.c_void_p(self.poison.poison_heap_new(pattern))

    def pointer(self):
        return self._heap

    def close(self):
        faults = self.poison.poison_heap_delete(self._heap)
        return f"{faults} faults of the heap" if faults else ""


# ------------------------------------------------------------------------------
# Arguments
# ------------------------------------------------------------------------------


@dataclasses.dataclass
class Case:
    """What a program is called with. values: its extents and sizes."""

    values: dict
    tape: list
    flags: dict


def _small(rng):
    return 0 if rng.random() < 0.1 else rng.randint(1, 16)


def random_values(program, number):
    """Sizes for a program, small enough that a run is short."""
    rng = random.Random(f"{program.seed}-{number}")
    for attempt in range(12):
        values = {("dim", "%out", 0): 16, ("dim", "%tape", 0): 0}
        for key in program.footprint_parameters():
            if key not in values:
                values[key] = _small(rng) >> attempt // 2
        try:
            for root in range(program.options.spaces):
                program.worst(root, values)
            # Loops over data run up to three times.
            program.run(values, [3], {f: 1 for f in program.flags})
            return values
        except model.TooLarge:
            continue
    return None


def random_case(program, values, number):
    rng = random.Random(f"{program.seed}-{number}-tape")
    tape = [rng.randrange(256) for _ in range(rng.randint(1, 40))] + [0]
    return Case({**values, ("dim", "%tape", 0): len(tape)}, tape,
                {f: rng.randrange(2) for f in program.flags})


def worst_cases(program, values):
    """For each root its footprint, and a case that needs it."""
    for root in range(program.options.spaces):
        peak, tape, flags = program.worst(root, values)
        tape = [*tape, 0]
        yield peak, Case({**values, ("dim", "%tape", 0): len(tape)}, tape,
                         {f: flags.get(f, 0) for f in program.flags})


def _contents(argument, shape, rng):
    """What an array holds at first, in the bits of its element type."""
    count = int(np.prod(shape))
    if argument.kind == "destination":
        bytes_ = np.full(count * np.dtype(_STORED[argument.element]).itemsize,
                         0xA5, np.uint8)
        return bytes_.view(_STORED[argument.element]).reshape(shape)
    numbers = np.array([rng.randrange(128) for _ in range(count)])
    if argument.element == "bf16":
        numbers = numbers.astype(np.float32).view(np.uint32) >> 16
    return numbers.astype(_STORED[argument.element]).reshape(shape)


class Arguments:
    """Arrays and scalars for one call."""

    def __init__(self, program, case):
        self.program, self.case = program, case
        self.arrays = {}
        rng = random.Random(program.seed)
        for argument in program.arguments:
            shape = tuple(
                case.values[("dim", argument.name, i)] if s is None else s
                for i, s in enumerate(argument.shape))
            if argument.kind == "tape":
                self.arrays[argument.name] = np.array(case.tape, np.uint8)
            elif argument.kind in ("out", "position"):
                self.arrays[argument.name] = np.zeros(shape, np.int64)
            elif argument.element:
                self.arrays[argument.name] = _contents(argument, shape, rng)
        self._kept = []

    def pass_to(self, spaces):
        """The arguments of the C function, without error and results."""
        given, spaces = [], iter(spaces)
        for argument in self.program.arguments:
            if argument.kind == "space":
                given.append(next(spaces).pointer())
            elif argument.kind == "index":
                given.append(ctypes.c_int64(
                    self.case.values[("var", argument.name)]))
            elif argument.kind == "flag":
                given.append(ctypes.c_bool(self.case.flags[argument.name]))
            else:
                self._kept.append(descriptor(self.arrays[argument.name]))
                given.append(ctypes.byref(self._kept[-1]))
        return given

    def contents(self):
        return [a.tobytes() for a in self.arrays.values()]


def descriptor(array):
    address = array.ctypes.data
    fields = [address, address, 0, *array.shape,
              *(s // array.itemsize for s in array.strides)]
    return (ctypes.c_int64 * len(fields))(*fields)


# ------------------------------------------------------------------------------
# Calls
# ------------------------------------------------------------------------------


@dataclasses.dataclass
class Done:
    """What a call returned. outputs: all arrays it was given, then the shape
    and contents of its results, if it succeeded."""

    status: int
    error: Error
    outputs: list
    untouched: bool


def result(descriptor, element, rank):
    shape = tuple(descriptor[3:3 + rank])
    size = int(np.prod(shape)) * np.dtype(_STORED[element]).itemsize
    address = descriptor[1] + descriptor[2] * np.dtype(
        _STORED[element]).itemsize
    return shape, ctypes.string_at(address, size) if size else b""


def call(library, program, case, spaces):
    """Calls the entry point of a program."""
    error = Error()
    results = [(ctypes.c_int64 * (3 + 2 * rank))(*[-1] * (3 + 2 * rank))
               for _, rank in program.results]
    arguments = Arguments(program, case)
    before = arguments.contents()
    function = getattr(library, f"pol_entry_{program.name}")
    function.restype = ctypes.c_int32
    status = function(ctypes.byref(error), *(ctypes.byref(r) for r in results),
                      *arguments.pass_to(spaces))
    outputs = arguments.contents()
    untouched = outputs == before and all(v == -1 for r in results for v in r)
    if status == OK:
        outputs += [result(r, *kind)
                    for r, kind in zip(results, program.results)]
    return Done(status, error, outputs, untouched)


def footprint(library, program, values, root=0):
    """What the footprint function says, None if there is none."""
    name = f"{program.name}_footprint"
    if program.options.spaces > 1:
        name += f"_{root}"
    function = getattr(library, name, None)
    if function is None:
        return None
    function.restype = ctypes.c_int64
    return function(*(ctypes.c_int64(values[key])
                      for key in program.footprint_parameters()))
