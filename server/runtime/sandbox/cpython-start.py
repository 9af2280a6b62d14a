"""Runs the driver in an ordinary CPython, which has none of the modules that the driver imports.

`cloudpickle` and `program_variables`, with which variables are saved, stay for the program and for its variables.
"""

import ast
import asyncio
import inspect
import sys
import time
import types


class WaitingSelector:
    """Waits for a time, and never for a file: programs have no sockets."""

    def select(self, timeout):
        time.sleep(1e9 if timeout is None else max(timeout, 0))
        return []


class Loop(asyncio.BaseEventLoop):
    def __init__(self):
        super().__init__()
        self._selector = WaitingSelector()

    def _process_events(self, events):
        pass

    def _write_to_self(self):
        pass

    def run_in_executor(self, executor, function, *arguments):
        """Calls the function at once, because there are no threads."""
        future = self.create_future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future


async def eval_code_async(source, globals, filename):
    """Executes the statements; returns the value of the last one if it is an expression. Allows top-level `await`."""
    tree = ast.parse(source, filename)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    await step(tree, "exec", globals, filename)
    return None if last is None else await step(ast.Expression(last.value), "eval", globals, filename)


async def step(tree, mode, globals, filename):
    code = compile(tree, filename, mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    value = eval(code, globals)
    return await value if code.co_flags & inspect.CO_COROUTINE else value


def run_inside(main, *, debug=None, loop_factory=None):
    """Runs a coroutine to its end while the loop of the program's own `await` is suspended."""
    loop = asyncio._get_running_loop()
    task = asyncio.current_task(loop)
    asyncio.tasks._leave_task(loop, task)
    asyncio._set_running_loop(None)
    inner = Loop()
    try:
        return inner.run_until_complete(main)
    finally:
        inner.close()
        asyncio._set_running_loop(loop)
        asyncio.tasks._enter_task(loop, task)


def module(name, **members):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(members)


def register(name, source):
    made = sys.modules[name] = types.ModuleType(name)
    # Other packages import a part of cloudpickle by its own name.
    made.__path__ = []
    sys.modules[f"{name}.{name}"] = made
    exec(compile(source, name + ".py", "exec"), made.__dict__)


def load(driver, modules):
    """Returns the functions of the driver: `restore`, `run` and `save`. `modules`: sources by name, in their order."""
    members = {"__name__": "driver"}
    for name, source in modules.items():
        register(name, source)
    module("pyodide")
    module("pyodide.code", eval_code_async=eval_code_async)
    module("pyodide.ffi", run_sync=None)
    module("pyodide.webloop", WebLoop=type("WebLoop", (), {}))
    exec(compile(driver, "driver.py", "exec"), members)
    for name in ("pyodide", "pyodide.code", "pyodide.ffi", "pyodide.webloop"):
        del sys.modules[name]
    asyncio.run = run_inside
    return members


def start(members, source, arguments, result_limit, message_limit):
    """Returns the driver's JSON."""
    loop = Loop()
    return loop.run_until_complete(members["run"](source, arguments, result_limit, message_limit))
