"""Saves the variables of a program for the next one of its workspace. A module of the interpreter, `program_variables`."""

import io
import os
import pickle
import sys

# By name, because programs replace members of modules; lengths are part of what is saved.
from builtins import len
from json import dumps, loads

import cloudpickle

# The first line of saved variables. Code objects are only valid in the interpreter that made them, which the server also
# chooses by this line (child-language.ts). Each interpreter reads plain values.
LAYOUT = b"2 "
FORMAT = LAYOUT + f"{sys.platform} {' '.join(sys.version.split())}".encode()

# The variables of the program, which are its globals.
names = {}
# Names of the variables of earlier programs that this one does not have.
missing = []


def program_names():
    return names


class Globals:
    """Stands for the globals of a function, which are those of the next program."""

    def __reduce__(self):
        return (program_names, ())


class TooLarge(Exception):
    pass


class OtherVersion(Exception):
    pass


class Sink(io.RawIOBase):
    """Takes at most so many bytes. Each write also lets a deadline interrupt the pickler."""

    def __init__(self, limit):
        self.left = limit
        self.parts = []

    def writable(self):
        return True

    def write(self, data):
        self.left -= len(data)
        if self.left < 0:
            raise TooLarge
        self.parts.append(bytes(data))
        return len(data)


class PlainUnpickler(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError("not a plain value")


SIMPLE = (type(None), bool, int, float, str, bytes, bytearray)
# Values that are looked at, because that must not take the time for saving.
LOOKS = 200_000


def is_plain(value):
    """True if it consists of lists, dictionaries, texts, numbers and the like only, and of not too many."""
    waiting, seen, left = [value], set(), LOOKS
    while waiting:
        value = waiting.pop()
        left -= 1
        if left - len(waiting) < 0:
            return False
        kind = type(value)
        if kind in SIMPLE:
            continue
        if kind not in (list, tuple, set, frozenset, dict):
            return False
        if id(value) in seen:
            continue
        seen.add(id(value))
        if len(value) > left:
            return False
        waiting.extend(value)
        if kind is dict:
            waiting.extend(value.values())
    return True


def plain_data(number, kept, limit):
    """The plain values once more, for another interpreter; none if they are too large to be there twice."""
    try:
        return dump((number, {name: value for name, value in kept.items() if is_plain(value)}), limit)
    except (TooLarge, MemoryError, RecursionError):
        return dump((number, {}), 1024)


def dump(value, limit):
    sink = Sink(limit)
    pickler = cloudpickle.Pickler(sink, protocol=5)
    pickler.globals_ref[id(names)] = Globals()
    pickler.dump(value)
    return b"".join(sink.parts)


def own_names():
    return {name: value for name, value in names.items() if not (name.startswith("__") and name.endswith("__"))}


def save(path, number, limit):
    """Writes the variables to the file, and returns the names of those that could not be saved."""
    kept = own_names()
    # What this program has made anew is not missing.
    lost = [name for name in missing if name not in kept]
    if not kept:
        return lost
    try:
        data = dump((number, kept), limit)
    except KeyboardInterrupt:
        raise
    except BaseException:
        sizes = {}
        for name, value in kept.items():
            try:
                sizes[name] = len(dump({name: value}, limit))
            except KeyboardInterrupt:
                raise
            except BaseException:
                lost.append(name)
        # The small ones first, so that one large table does not cost all others.
        total = 1024
        for name in sorted(sizes, key=sizes.get):
            total += sizes[name]
            if total > limit:
                lost.append(name)
        kept = {name: value for name, value in kept.items() if name not in lost}
        data = dump((number, kept), limit)
    listed = dumps([name[:100] for name in kept][:300], ensure_ascii=False).encode("utf-8", "replace")
    plain = plain_data(number, kept, max(limit - len(data) - len(listed), 1024))
    with open(path, "wb") as file:
        for part in (FORMAT, b"\n", listed, b"\n", str(len(plain)).encode(), b"\n", plain, data):
            file.write(part)
    return lost


def restore(path):
    """Reads the variables from the file, and returns the number of the program that saved them.

    Raises an error if not all could be restored; `missing` has the names of those, as far as they are known.
    """
    with open(path, "rb") as file:
        content = file.read()
    os.remove(path)
    head, listed, size, data = (content.split(b"\n", 3) + [b""] * 3)[:4]
    missing[:] = names_in(listed)
    if head == FORMAT:
        number, values = pickle.loads(memoryview(data)[int(size) :])
        take(values)
        return int(number)
    if head.startswith(LAYOUT) and size.isdigit():
        number, values = PlainUnpickler(io.BytesIO(data[: int(size)])).load()
        take(values)
        if not missing:
            return int(number)
    raise OtherVersion("another version of Python saved them")


def take(values):
    names.update(values)
    missing[:] = [name for name in missing if name not in values]


def names_in(text):
    try:
        return [str(name)[:100] for name in loads(text)]
    except ValueError:
        return []
