"""Runs one program and returns its outcome. Loaded into the interpreter before the program."""

import asyncio
import collections
import collections.abc
import dataclasses
import json
import linecache
import random
import sys
import traceback

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


async def run(source, arguments, result_limit, message_limit):
    """Returns JSON of `{result, code, message}`; `result` is itself JSON text. `arguments`: JSON text, or None."""
    # The interpreter was restored from a snapshot: without this, all programs would draw the same random numbers.
    random.seed()
    linecache.cache[FILE] = (len(source), None, source.splitlines(True), FILE)
    try:
        result = encode(await evaluate(source, arguments))
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
    return json.dumps({"result": result, "code": code, "message": message})


async def evaluate(source, arguments):
    names = {"__name__": "__main__", "__file__": FILE}
    value = await eval_code_async(source, globals=names, filename=FILE)
    if arguments is None:
        return value
    main = names.get("main")
    if not callable(main):
        raise NameError("the program must define a function: def main(args)")
    value = main(json.loads(arguments))
    return await value if isinstance(value, collections.abc.Awaitable) else value


def encode(value):
    return json.dumps(value, default=plain, ensure_ascii=False, allow_nan=False)


def plain(value):
    """Converts a value unknown to JSON. For a model, any text is better than an error."""
    if isinstance(value, (collections.abc.Set, collections.deque, range)):
        return list(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    # Numbers and arrays of numpy. A table of pandas has an index too, and reads better as text.
    if callable(getattr(value, "tolist", None)) and not hasattr(value, "index"):
        return value.tolist()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return str(value)


def explain(error, limit):
    """Returns the traceback with the program's own frames only. Its end is kept, as the most useful part."""
    told = traceback.TracebackException.from_exception(error)
    waiting = [told]
    while waiting:
        part = waiting.pop()
        part.stack = traceback.StackSummary.from_list([frame for frame in part.stack if frame.filename == FILE])
        waiting += [other for other in (part.__cause__, part.__context__, *(part.exceptions or ())) if other]
    text = "".join(told.format()).strip()
    return text if len(text) <= limit else "… " + text[-limit + 2 :]
