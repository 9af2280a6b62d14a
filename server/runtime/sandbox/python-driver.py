"""Runs one program and returns its outcome. Loaded into the interpreter before the program."""

import asyncio
import collections
import collections.abc
import dataclasses
import linecache
import random
import sys
import traceback

import program_variables
from json import dumps, loads
from pyodide.code import eval_code_async
from pyodide.ffi import run_sync
from pyodide.webloop import WebLoop

FILE = "program.py"

# Modules that reach the runtime around the interpreter. From now on nothing that a program needs imports them.
for name in [name for name in sys.modules if name.partition(".")[0] in ("js", "pyodide_js")]:
    del sys.modules[name]
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "JsFinder"]


def run_until_complete(loop, future):
    loop._install_asyncgen_hooks()
    return run_sync(asyncio.ensure_future(future, loop=loop))


def run_asyncio(main, *, debug=None, loop_factory=None):
    """Uses the running event loop, which is the only one."""
    return asyncio.get_event_loop().run_until_complete(main)


# The originals call the runtime around the interpreter, which is no longer possible.
WebLoop.run_until_complete = run_until_complete
asyncio.run = run_asyncio


# Files by which the variables come and go.
RESTORED, SAVED = "/tmp/restored-variables", "/tmp/saved-variables"

number = 1


def restore():
    """Loads the variables that an earlier program saved. Returns a note for the model on what is lost, or an empty text."""
    global number
    try:
        number = program_variables.restore(RESTORED) + 1
        return ""
    except program_variables.OtherVersion as error:
        reason = str(error)
    except BaseException as error:
        program_variables.names.clear()
        reason = f"{type(error).__name__}: {error}"[:200]
    lost = program_variables.missing
    if not lost:
        return f"The variables of the earlier programs could not be restored ({reason}): they are lost."
    named = ", ".join(lost[:10]) + (" and others" if len(lost) > 10 else "")
    return f"Variables of the earlier programs could not be restored ({reason}). These are lost: {named}."


def save(limit):
    """Returns JSON of `{lost, note}`; `note` tells the model that nothing could be saved, or is null."""
    try:
        return dumps({"lost": program_variables.save(SAVED, number, limit), "note": None})
    except BaseException as error:
        lost = list(program_variables.own_names())
        reason = f"{type(error).__name__}: {error}"[:200]
        note = f"No variable is left for the next program, because they could not be saved: {reason}."
        return dumps({"lost": lost, "note": note})


async def run(source, arguments, result_limit, message_limit):
    """Returns JSON of `{result, code, message}`; `result` is itself JSON text. `arguments`: JSON text, or None."""
    # The interpreter was restored from a snapshot: without this, all programs would draw the same random numbers.
    random.seed()
    # Functions of earlier programs have another file, whose lines are not there any more.
    file = FILE if number == 1 else f"program_{number}.py"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    try:
        result = encode(await evaluate(source, arguments, file))
    except SystemExit as leave:
        if leave.code in (None, 0):
            return said(result="null")
        return said(code="code_error", message=f"SystemExit: {leave.code}"[:message_limit])
    except MemoryError:
        return said(code="code_out_of_memory", message="MemoryError: the program used more memory than it may.")
    except BaseException as error:
        return said(code="code_error", message=explain(error, message_limit))
    if len(result.encode("utf-8", "replace")) > result_limit:
        return said(code="code_output_too_large", message=f"The result is larger than {result_limit} bytes.")
    return said(result=result)


def said(result=None, code=None, message=None):
    return dumps({"result": result, "code": code, "message": message})


async def evaluate(source, arguments, file):
    names = program_variables.names
    names.update({"__name__": "__main__", "__file__": file})
    value = await eval_code_async(source, globals=names, filename=file)
    if arguments is None:
        return value
    main = names.get("main")
    if not callable(main):
        raise NameError("the program must define a function: def main(args)")
    value = main(loads(arguments))
    return await value if isinstance(value, collections.abc.Awaitable) else value


def encode(value):
    try:
        return dumps(value, default=plain, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        return dumps(as_json(value), ensure_ascii=False, allow_nan=False)


def as_json(value, around=()):
    """Converts what JSON does not have: numbers that are none become null, as in JavaScript, and keys become texts.

    `around` has the ids of the values that this one is in.
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else None
    if id(value) in around:
        raise ValueError("Circular reference detected")
    inner = (*around, id(value))
    if isinstance(value, dict):
        return {as_key(key): as_json(item, inner) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item, inner) for item in value]
    return as_json(plain(value), inner)


def as_key(key):
    """Returns a key of JSON: dates as in values, and groups of several columns as Python prints them."""
    if key is None or isinstance(key, (bool, int, str)):
        return key
    if isinstance(key, tuple):
        return str(tuple(part if isinstance(part, (int, float)) else str(as_key(part)) for part in key))
    if isinstance(key, float):
        return str(float(key))
    value = plain(key)
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def plain(value):
    """Converts a value unknown to JSON. For a model, any text is better than an error."""
    if isinstance(value, (collections.abc.Set, collections.deque, range)):
        return list(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    # Missing values of a table, which are no texts.
    if type(value).__name__ in ("NaTType", "NAType"):
        return None
    # Times of numpy: as a list they would be numbers of nanoseconds.
    if type(value).__module__ == "numpy" and value.dtype.kind in "mM":
        return value.astype(f"{value.dtype.name.partition('64')[0]}64[us]").tolist()
    # Numbers and arrays of numpy. A table of pandas has an index too, and reads better as text.
    if callable(getattr(value, "tolist", None)) and not hasattr(value, "index"):
        return value.tolist()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return str(value)


def is_own(filename):
    return filename == FILE or filename.startswith("program_")


def explain(error, limit):
    """Returns the traceback with the program's own frames only. Its end is kept, as the most useful part."""
    told = traceback.TracebackException.from_exception(error)
    waiting = [told]
    while waiting:
        part = waiting.pop()
        part.stack = traceback.StackSummary.from_list([frame for frame in part.stack if is_own(frame.filename)])
        waiting += [other for other in (part.__cause__, part.__context__, *(part.exceptions or ())) if other]
    text = "".join(told.format()).strip()
    if type(error) is UnicodeDecodeError and error.encoding == "utf-8":
        encoding = "utf-16" if error.object[:2] in (b"\xff\xfe", b"\xfe\xff") else "cp1252"
        text += f'\nThe bytes are not UTF-8: try encoding="{encoding}".'
    return text if len(text) <= limit else "… " + text[-limit + 2 :]
