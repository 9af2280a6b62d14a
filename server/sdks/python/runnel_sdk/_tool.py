"""Functions as tools: the name, description and JSON Schema that a model reads, from types and docstring."""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import re
import types
import typing
from typing import Annotated, Any, Callable, Dict, List, Literal, Mapping, Optional, Sequence, Tuple, Union, overload

#: ``tools`` of a run: tools and typed functions, or functions by the names of tools that the agent has.
Tools = Union[Mapping[str, Callable[..., Any]], Sequence[Union["Tool", Callable[..., Any]]]]


class Tool:
    """A function with all that a model must know of it. Made by ``tool``; it can still be called."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: Optional[str] = None,
        description: Optional[str] = None,
        parameters: Optional[Mapping[str, Any]] = None,
    ) -> None:
        if not callable(function):
            raise TypeError(f"{function!r} is not a function.")
        functools.update_wrapper(self, function)
        own_name = _name_of(function)
        if name is None and not own_name.isidentifier():
            raise TypeError(f"{own_name} has no name that a model could call: pass name.")
        documented = _documentation(function)
        self._given = parameters
        self.name = name or own_name
        self.description = documented.description if description is None else description
        if parameters is None:
            self.parameters, self._convert = _described(function, documented.parameters)
        else:
            self.parameters, self._convert = dict(parameters), dict

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)  # type: ignore[attr-defined]

    def __get__(self, instance: Any, owner: Any = None) -> Tool:
        if instance is None:
            return self
        bound = self.__wrapped__.__get__(instance, owner)  # type: ignore[attr-defined]
        return Tool(bound, name=self.name, description=self.description, parameters=self._given)

    def answering(self) -> Callable[..., Any]:
        """The function, for the arguments of a model: each gets its annotated type."""
        function = self.__wrapped__  # type: ignore[attr-defined]
        preset = _preset_of(function)

        @functools.wraps(function)
        def answer(**arguments: Any) -> Any:
            return function(**{**self._convert(arguments), **preset})

        answer.answers_for = function  # type: ignore[attr-defined]
        return answer

    def definition(self) -> Dict[str, Any]:
        """The tool as a request has it. Raises ``TypeError`` for a method that was taken from its class."""
        function = self.__wrapped__  # type: ignore[attr-defined]
        first = next(iter(inspect.signature(function).parameters.values()), None)
        is_method = "." in getattr(function, "__qualname__", "").rpartition("<locals>")[2].lstrip(".")
        if is_method and first is not None and first.name in ("self", "cls") and first.annotation is first.empty:
            raise TypeError(f"{self.name} is a method of a class: take it from an object, as in thing.{self.name}.")
        described = {"description": self.description} if self.description else {}
        return {"type": "client", "name": self.name, **described, "parameters": self.parameters}


@overload
def tool(function: Callable[..., Any]) -> Tool: ...


@overload
def tool(
    *,
    name: Optional[str] = None,
    description: Optional[str] = None,
    parameters: Optional[Mapping[str, Any]] = None,
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Optional[Callable[..., Any]] = None,
    *,
    name: Optional[str] = None,
    description: Optional[str] = None,
    parameters: Optional[Mapping[str, Any]] = None,
) -> Union[Tool, Callable[[Callable[..., Any]], Tool]]:
    """Makes a tool of a typed function, for ``tools`` of ``runs.run`` and ``runs.stream``; also as a decorator.

    The docstring's beginning is the description, with sections such as ``Note:``, and its ``Args:``, ``Parameters`` or ``:param x:`` describe
    the parameters. The types may be texts, numbers, booleans, lists, dicts, ``Optional``, ``Literal``, ``Annotated`` and
    ``TypedDict``; with pydantic installed, all that it understands, such as models. ``parameters`` is a JSON Schema in
    their place. A model sees no argument that ``functools.partial`` has set by its name. Raises ``TypeError`` for a
    parameter of another type.
    """
    if function is not None:
        return Tool(function, name=name, description=description, parameters=parameters)
    return lambda each: Tool(each, name=name, description=description, parameters=parameters)


def separate(tools: Optional[Tools]) -> Tuple[List[Any], Dict[str, Callable[..., Any]]]:
    """Returns the definitions that are sent, and the functions by name. A definition without a function is sent as it is."""
    if tools is None:
        return [], {}
    if callable(tools) or isinstance(tools, str):
        raise TypeError("tools is a list of functions, as in tools=[lookup], or a dict of them by name.")
    if isinstance(tools, Mapping):
        wrong = next((name for name, its in tools.items() if not callable(its)), None)
        if wrong is not None:
            raise TypeError(f"tools[{wrong!r}] is not a function.")
        return [], {name: its.answering() if isinstance(its, Tool) else its for name, its in tools.items()}
    sent: List[Any] = []
    functions: Dict[str, Callable[..., Any]] = {}
    for each in tools:
        if isinstance(each, Mapping):
            sent.append(each)
            continue
        if not callable(each):
            raise TypeError(
                f"tools has {each!r}, which is not a function. The functions of tools that the agent has are a dict: "
                "tools={'lookup': lookup}."
            )
        made = each if isinstance(each, Tool) else Tool(each)
        sent.append(made.definition())
        functions[made.name] = made.answering()
    return sent, functions


def _base_of(function: Callable[..., Any]) -> Any:
    """The function in a partial, or the ``__call__`` of an object: it has the name, the types and the docstring."""
    base: Any = function
    while isinstance(base, functools.partial):
        base = base.func
    return base if inspect.isroutine(base) or inspect.isclass(base) else type(base).__call__


def _preset_of(function: Callable[..., Any]) -> Dict[str, Any]:
    """Arguments that a partial has set by name, an API key for example: a model neither reads nor gives them."""
    return dict(function.keywords) if isinstance(function, functools.partial) else {}


def _name_of(function: Callable[..., Any]) -> str:
    base: Any = function
    while isinstance(base, functools.partial):
        base = base.func
    return str(getattr(base, "__name__", type(base).__name__))


class _Documentation(typing.NamedTuple):
    description: str
    #: Descriptions by parameter.
    parameters: Dict[str, str]


#: Headings of docstrings that begin parameters, and those that begin something else.
_ARGUMENTS = ("args", "arguments", "parameters", "other parameters", "keyword args", "keyword arguments", "params")
_OTHERS = (
    "attention attributes caution danger error example examples hint important note notes raise raises reference "
    "references return returns tip todo warn warning warnings warns yield yields"
).split(" ") + ["see also"]
#: Headings of which a model should know nothing: the others stay in the description if they stand before the parameters.
_NOT_TOLD = "attributes raise raises reference references return returns todo yield yields".split(" ")
_HEADING = re.compile(r"^([A-Za-z][A-Za-z ]*?)\s*(:?)\s*$")
_UNDERLINE = re.compile(r"^[-=]{3,}\s*$")
_GOOGLE = re.compile(r"^\s+\*{0,2}(\w+)\s*(?:\(.*?\))?\s*:(?:\s+(.*))?$")
_NUMPY = re.compile(r"^(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?$")
_FIELD = re.compile(r"^[:@](\w+)(?:\s+([^:]*?))?\s*:\s*(.*)$")
_FIELDS_OF_PARAMETERS = ("param", "parameter", "arg", "argument", "key", "keyword", "kwarg")
_OTHER_FIELDS = ("type", "return", "returns", "rtype", "raise", "raises", "except", "exception", "yield", "yields", "ytype")


def _documentation(function: Callable[..., Any]) -> _Documentation:
    """Reads a docstring in the style of Google, NumPy or Sphinx."""
    description: List[str] = []
    parameters: Dict[str, str] = {}
    #: The parameters that an indented line belongs to.
    current: List[str] = []
    names = inspect.signature(function).parameters
    section = "description"
    has_parameters = False
    #: The line below a heading of the description.
    underline: Optional[int] = None
    lines = (inspect.getdoc(_base_of(function)) or "").splitlines()

    def begin(found: Sequence[str], text: str) -> None:
        current[:] = [name for name in found if name in names]
        parameters.update({name: text.strip() for name in current})

    for index, line in enumerate(lines):
        is_indented = line[:1].isspace()
        heading = None if is_indented else _HEADING.match(line)
        title = heading.group(1).lower() if heading else ""
        is_underlined = index + 1 < len(lines) and bool(_UNDERLINE.match(lines[index + 1]))
        is_known = (is_underlined or bool(heading and heading.group(2))) and (title in _ARGUMENTS or title in _OTHERS)
        field = _FIELD.match(line)
        if field and field.group(1) not in (*_FIELDS_OF_PARAMETERS, *_OTHER_FIELDS):
            field = None
        if not line.strip():
            if section == "description":
                description.append(line)
        elif (_UNDERLINE.match(line) and section != "description") or index == underline:
            continue
        elif is_known or (is_underlined and section != "description"):
            style = "numpy" if is_underlined else "google"
            section = style if title in _ARGUMENTS else "other"
            current.clear()
            has_parameters = has_parameters or title in _ARGUMENTS
            if is_known and section == "other" and title not in _NOT_TOLD and not has_parameters:
                section = "description"
                description.append(line if heading and heading.group(2) else f"{line.strip()}:")
                underline = index + 1 if is_underlined else None
        elif field:
            section = "sphinx"
            is_parameter = field.group(1) in _FIELDS_OF_PARAMETERS
            begin([*(field.group(2) or "").split()[-1:]] if is_parameter else [], field.group(3))
        elif section == "description":
            description.append(line)
        elif section == "numpy" and not is_indented:
            named = _NUMPY.match(line)
            begin([name.strip().lstrip("*") for name in named.group(1).split(",")] if named else [], "")
        elif not is_indented:
            section = "other"  # A paragraph of its own belongs to no parameter.
            current.clear()
        else:
            google = _GOOGLE.match(line) if section == "google" else None
            if google and google.group(1) in names:  # Else a line of the description before: `C: Celsius`.
                begin([google.group(1)], google.group(2) or "")
            else:
                for name in current:
                    parameters[name] = f"{parameters[name]} {line.strip()}".strip()
    return _Documentation("\n".join(description).strip(), parameters)


_Convert = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def _described(function: Callable[..., Any], texts: Mapping[str, str]) -> Tuple[Dict[str, Any], _Convert]:
    """Returns the JSON Schema of a function's parameters, and the conversion of arguments to their types."""
    signature = inspect.signature(function)
    hints = _hints_of(function)
    preset = _preset_of(function)
    fields: List[Tuple[str, Any, Any]] = []
    for name, parameter in signature.parameters.items():
        if name in preset:
            continue
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{_name_of(function)}: the parameter {parameter} has no name that a model could give.")
        hint = hints.get(name, Any)
        if parameter.default is None and not _admits_none(hint):
            hint = Optional[hint]  # As in `limit: int = None`.
        fields.append((name, hint, parameter.default))
    try:
        if any(_is_pydantic_field(default) for _, _, default in fields):
            raise TypeError("a default made by pydantic needs pydantic 2.")
        return _by_types(fields, texts), dict
    except (TypeError, RecursionError) as cause:
        try:
            made = _by_pydantic(fields, texts)
        except Exception as refusal:  # Pydantic's errors are no TypeErrors.
            raise TypeError(f"{_name_of(function)}: {refusal}") from refusal
        if made is None:
            raise TypeError(f"{_name_of(function)}: {cause}") from None
        return made


def _hints_of(function: Callable[..., Any]) -> Dict[str, Any]:
    """Returns the types of parameters. The return type is left out, because only type checkers may know its name."""
    its: Any = inspect.unwrap(_base_of(function))
    while isinstance(its, functools.partial):
        its = inspect.unwrap(_base_of(its))
    bare: Any = lambda: None  # noqa: E731
    bare.__annotations__ = {name: hint for name, hint in getattr(its, "__annotations__", {}).items() if name != "return"}
    try:
        return typing.get_type_hints(bare, getattr(its, "__globals__", {}), include_extras=True)
    except NameError as cause:
        raise TypeError(
            f"{_name_of(function)}: {cause}. Import the types of parameters for the program too, and not for type "
            "checkers alone; define them outside of functions."
        ) from cause


def _admits_none(hint: Any) -> bool:
    if typing.get_origin(hint) is typing.Annotated:
        return _admits_none(typing.get_args(hint)[0])
    is_union = typing.get_origin(hint) in _UNIONS
    return hint in (None, Any, type(None)) or (is_union and any(_admits_none(each) for each in typing.get_args(hint)))


def _by_pydantic(
    fields: Sequence[Tuple[str, Any, Any]], texts: Mapping[str, str]
) -> Optional[Tuple[Dict[str, Any], _Convert]]:
    """As pydantic sees the types; None if version 2 is not installed."""
    try:
        pydantic: Any = importlib.import_module("pydantic")
    except ImportError:
        return None
    if not hasattr(pydantic, "TypeAdapter"):
        return None
    # Under names of their own, because a model has attributes of its own, such as `copy`.
    own_names = {name: f"field_{index}" for index, (name, _, _) in enumerate(fields)}
    definitions: Dict[str, Any] = {}
    #: Parameters whose default in the function is no value: `limit: int = Field(3, ge=1)`.
    described_by_default = [name for name, _, default in fields if _is_pydantic_field(default)]
    for name, hint, default in fields:
        value = ... if default is inspect.Parameter.empty else default
        text = texts.get(name) or _annotated_text(hint)
        described = {"description": text} if text else {}
        definitions[own_names[name]] = (Annotated[hint, pydantic.Field(alias=name, **described)], value)
    model = pydantic.create_model("Arguments", __config__=pydantic.ConfigDict(extra="forbid"), **definitions)
    schema = untitled(model.model_json_schema(by_alias=True))

    def convert(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        # As JSON, which has texts and lists for what a strict model wants as a date, an enum or a tuple.
        made = model.model_validate_json(json.dumps(arguments))
        return {name: getattr(made, own_names[name]) for name in {**arguments, **dict.fromkeys(described_by_default)}}

    return schema, convert


def _is_pydantic_field(default: Any) -> bool:
    return type(default).__name__ == "FieldInfo" and type(default).__module__.startswith("pydantic")


def _annotated_text(hint: Any) -> Optional[str]:
    notes = typing.get_args(hint)[1:] if typing.get_origin(hint) is typing.Annotated else ()
    return next((each for each in notes if isinstance(each, str)), None)


#: Keywords whose values are data.
_DATA = ("default", "examples", "enum", "const")


def untitled(schema: Any) -> Any:
    """Without the titles that pydantic makes of names: the model reads each of them."""
    if isinstance(schema, list):
        return [untitled(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: its if key in _DATA else untitled(its)
        for key, its in schema.items()
        if not (key == "title" and isinstance(its, str))
    }


def _by_types(fields: Sequence[Tuple[str, Any, Any]], texts: Mapping[str, str]) -> Dict[str, Any]:
    """Raises ``TypeError`` for a type that needs pydantic."""
    properties: Dict[str, Any] = {}
    for name, hint, default in fields:
        try:
            schema = schema_of(hint)
        except TypeError as cause:
            raise TypeError(f"the parameter {name}: {cause}") from None
        if name in texts:
            schema["description"] = texts[name]
        if default is not inspect.Parameter.empty and _is_json(default):
            schema["default"] = default
        properties[name] = schema
    required = [name for name, _, default in fields if default is inspect.Parameter.empty]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_PRIMITIVES = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null", list: "array", dict: "object"}
#: Python 3.10 has neither.
_NOT_REQUIRED: Any = getattr(typing, "NotRequired", object())
_MARKS = (_NOT_REQUIRED, getattr(typing, "Required", _NOT_REQUIRED))
_UNIONS = (Union, types.UnionType)


def schema_of(hint: Any) -> Dict[str, Any]:
    """The JSON Schema of a type. Raises ``TypeError`` for one that needs pydantic."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (list, dict) and not args:
        hint = origin  # ``List`` alone.
    if origin in _MARKS:
        return schema_of(args[0])
    if hint is Any:
        return {}
    if hint is None or hint in _PRIMITIVES:
        return {"type": _PRIMITIVES[type(None) if hint is None else hint]}
    if origin is typing.Annotated:
        if not all(isinstance(each, str) for each in args[1:]):
            raise TypeError(f"{hint!r} needs pydantic, or a JSON Schema as ``parameters``.")
        return {**schema_of(args[0]), "description": args[1]}
    if origin is Literal:
        if not _is_json(list(args)):
            raise TypeError(f"{hint!r} needs pydantic, or a JSON Schema as ``parameters``.")
        return {"enum": list(args)}
    if origin in _UNIONS:
        return {"anyOf": [schema_of(each) for each in args]}
    if origin is list and args:
        return {"type": "array", "items": schema_of(args[0])}
    if origin is dict and args and args[0] is str:
        return {"type": "object", "additionalProperties": schema_of(args[1])}
    if typing.is_typeddict(hint):
        hints = typing.get_type_hints(hint, include_extras=True)
        properties = {name: schema_of(its) for name, its in hints.items()}
        # With annotations as texts, Python counts a NotRequired key as required.
        optional = {name for name, its in hints.items() if typing.get_origin(its) is _NOT_REQUIRED}
        return {"type": "object", "properties": properties, "required": sorted(hint.__required_keys__ - optional)}
    raise TypeError(f"{hint!r} needs pydantic, or a JSON Schema as ``parameters``.")


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True
