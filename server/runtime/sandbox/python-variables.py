"""Saves the variables of a program for the next one of its workspace. A module of the interpreter, `program_variables`."""

import io
import os
import pickle
import sys

import cloudpickle

# Code objects are only valid in the version of Python that made them.
FORMAT = f"1 {sys.version}".encode()

# The variables of the program, which are its globals.
names = {}


def program_names():
    return names


class Globals:
    """Stands for the globals of a function, which are those of the next program."""

    def __reduce__(self):
        return (program_names, ())


class TooLarge(Exception):
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
    lost = []
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
    with open(path, "wb") as file:
        file.write(FORMAT + b"\n" + data)
    return lost


def restore(path):
    """Reads the variables from the file, and returns the number of the program that saved them."""
    with open(path, "rb") as file:
        head, _, data = file.read().partition(b"\n")
    os.remove(path)
    if head != FORMAT:
        raise ValueError("another version of Python saved them")
    number, values = pickle.loads(data)
    names.update(values)
    return int(number)
