# Typed functions as tools: what is sent of them, and runs whose calls they answer. With and without pydantic.
import asyncio
import dataclasses
import datetime
import decimal
import enum
import functools
import pathlib
import sys
import uuid
from typing import Annotated, Any, Dict, List, Literal, Optional, Tuple, TypedDict

import runnel_sdk as library
from runnel_sdk import AsyncRunnel, Runnel, tool

try:
    import pydantic
except ImportError:
    pydantic = None


class Address(TypedDict):
    street: str
    number: int


def find_order(
    number: int,
    status: Literal["open", "closed"] = "open",
    *,
    address: Optional[Address] = None,
    tags: Annotated[List[str], "Words on the label."] = [],
):
    """Finds an order.

    Looks into the archive too.

    Args:
        number: What is printed on the bill,
            without letters.
        status (str): Where it stands.

    Returns:
        The order.
    """
    return {"number": number, "status": status, "is_int": isinstance(number, int)}


def described():
    made = tool(find_order)
    assert made.name == "find_order" and made.description == "Finds an order.\n\nLooks into the archive too.", made.description
    parameters = made.parameters
    assert parameters["type"] == "object" and parameters["required"] == ["number"], parameters
    assert parameters["additionalProperties"] is False, parameters
    properties = parameters["properties"]
    assert list(properties) == ["number", "status", "address", "tags"], properties
    assert properties["number"] == {"type": "integer", "description": "What is printed on the bill, without letters."}, properties
    assert properties["status"]["enum"] == ["open", "closed"] and properties["status"]["default"] == "open", properties
    assert properties["status"]["description"] == "Where it stands.", properties
    assert properties["tags"]["items"] == {"type": "string"}, properties
    assert "title" not in str(parameters), parameters
    # It can still be called, and be named otherwise.
    assert made(4) == find_order(4) and tool(name="look", description="Looks.")(find_order).definition()["name"] == "look"

    def sphinx(city, unit: str = "C"):
        """The weather.

        :param city: Its name.
        :param str unit: C or F.
        :returns: Degrees.
        """

    made = tool(sphinx)
    assert made.description == "The weather." and made.parameters["properties"]["unit"]["description"] == "C or F.", made.parameters
    assert made.parameters["properties"]["city"] == {"description": "Its name."}, made.parameters
    given = tool(parameters={"type": "object"})(sphinx)
    assert given.definition() == {
        "type": "client", "name": "sphinx", "description": "The weather.", "parameters": {"type": "object"}
    }, given.definition()

    def refused(function):
        try:
            tool(function)
        except TypeError as error:
            return str(error)
        raise SystemExit("a function that no model can call was taken")

    assert "pass name" in refused(lambda: 1)
    assert "*cities" in refused(lambda_with_name(lambda *cities: 1))
    assert "/" in refused(positional) or "city" in refused(positional)
    if pydantic is None:
        assert "pydantic" in refused(of_unknown_type), refused(of_unknown_type)


class Desk:
    @tool
    def find(self, city: str, unit: "Literal['C', 'F']" = "C") -> "NoSuchType":  # noqa: F821
        """Finds.

        Args:
            city:
                Its name.
            unit: One of
                C: Celsius
        """
        return f"{city} {unit}"


class Place(TypedDict):
    street: str
    more: List[Dict[str, Any]]


def unusual():
    """Methods, partials, types without arguments, and docstrings that go on."""
    desk = Desk()
    properties = desk.find.parameters["properties"]
    assert list(properties) == ["city", "unit"] and desk.find("Oslo") == "Oslo C", properties
    assert properties["city"]["description"] == "Its name." and properties["unit"]["description"] == "One of C: Celsius"

    def base(city: str, unit: str):
        """The weather."""

    # An argument that a partial has set, a key for example, is for no model to read or to give.
    made = tool(functools.partial(functools.partial(base), unit="C"))
    assert made.definition() == {
        "type": "client",
        "name": "base",
        "description": "The weather.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    }, made.definition()
    assert list(tool(functools.partial(base, "Oslo")).parameters["properties"]) == ["unit"]

    class Finder:
        """Has orders."""

        def __call__(self, number: int):
            """Finds an order."""

        def find(self, number: int):
            pass

    made = tool(Finder())
    assert (made.name, made.description) == ("Finder", "Finds an order."), made.definition()
    assert made.parameters["properties"] == {"number": {"type": "integer"}}, made.parameters
    assert "take it from an object" in type_error(lambda: tool(Finder.find).definition())
    assert "take it from an object" in type_error(lambda: Desk.find.definition())
    assert list(tool(Finder().find).definition()["parameters"]["properties"]) == ["number"]

    def summary_less(limit: "int | None" = None):
        """
        Args:
            limit: How many.
        """

    made = tool(summary_less)
    assert made.description == "" and made.parameters["properties"]["limit"]["description"] == "How many.", made.definition()

    def in_epytext_style(city):
        """The weather.

        @param city: Its name.
        @return: Degrees.
        """

    made = tool(in_epytext_style)
    assert made.description == "The weather." and made.parameters["properties"]["city"]["description"] == "Its name.", made

    def of_a_hidden_type(city: "Hidden"):  # noqa: F821
        pass

    assert "of_a_hidden_type: name 'Hidden' is not defined" in type_error(lambda: tool(of_a_hidden_type))
    assert "3 is not a function" in type_error(lambda: tool(3))


def type_error(make):
    try:
        made = make()
    except TypeError as error:
        return str(error)
    raise SystemExit(f"no TypeError, but {made!r}")

    def lists(one: list, other: List, place: Place):
        pass

    properties = tool(lists).parameters["properties"]
    assert properties["one"] == {"type": "array"} and properties["place"]["required"] == ["more", "street"], properties


def lambda_with_name(function):
    function.__name__ = "named"
    return function


def positional(city, /):
    return city


def of_unknown_type(city: Dict[int, str]):
    return city


def script(*turns):
    calls = [{"tool_calls": [{"name": name, "arguments": arguments} for name, arguments in turn]} for turn in turns]
    return {"script": [*calls, {"text": "Done."}]}


@tool
def weather(city: str) -> Dict[str, Any]:
    """The weather in a city."""
    if city == "Atlantis":
        raise LookupError("There is no Atlantis.")
    return {"city": city, "celsius": 21}


async def weather_later(city: str) -> str:
    """The weather in a city."""
    await asyncio.sleep(0)
    return f"clear in {city}"


def blocking():
    with Runnel() as runnel:
        turn = [("weather", {"city": "Oslo"}), ("weather", {"city": "Atlantis"}), ("find_order", {"number": 4})]
        agent = runnel.agents.create(name="Clerk", instructions="Help.", model="test/script", model_settings=script(turn))
        run = runnel.runs.run(agent, "Go", tools=[weather, find_order])
        assert run.output == "Done.", run
        outputs = [(call.name, call.status, call.output) for call in run.tool_calls]
        assert outputs[0] == ("weather", "completed", {"city": "Oslo", "celsius": 21}), outputs
        assert outputs[1][:2] == ("weather", "failed") and "Atlantis" in str(run.tool_calls[1].error), run.tool_calls
        assert outputs[2] == ("find_order", "completed", {"number": 4, "status": "open", "is_int": True}), outputs

        # A stream answers while it is read, and leaves to others what is not its own.
        stream = runnel.runs.stream(agent_id=agent.id, input="Go", tools=[weather, find_order])
        assert [event.event for event in stream][-1] == "run.completed" and stream.text == "Done.", stream.text
        others = {"type": "client", "name": "find_order", "parameters": {"type": "object"}}
        stream = runnel.runs.stream(agent_id=agent.id, input="Go", tools=[weather, others])
        for event in stream:
            if event.event == "run.requires_action":
                calls = event.data.required_action.submit_tool_outputs.tool_calls
                answers = [{"tool_call_id": call.tool_call_id, "output": 1} for call in calls if call.name == "find_order"]
                if answers:
                    runnel.runs.submit_tool_outputs(stream.run_id, tool_outputs=answers)
        assert stream.text == "Done.", stream.text

        # What is missing is named, with the run, which goes on.
        try:
            runnel.runs.run(agent, "Go", tools=[weather, others])
            raise SystemExit("a call without a function was answered")
        except library.ActionRequiredError as error:
            assert "find_order" in str(error) and error.run.status == "requires_action" and error.run_id == error.run.id, error
            runnel.runs.cancel(error.run_id)
        turn = [("weather_later", {"city": "Oslo"})]
        later = runnel.agents.create(
            name="Clerk", instructions="Help.", model="test/script", model_settings=script(turn)
        )
        try:
            runnel.runs.run(later, "Go", tools=[weather_later])
            raise SystemExit("an async function was called")
        except library.RunnelError as error:
            assert "weather_later is async" in str(error), error
            runnel.runs.cancel(error.run_id)

        @dataclasses.dataclass
        class Answer:
            celsius: int

        turn = [("weather", {"city": "Oslo"})]
        agent = runnel.agents.create(name="Clerk", instructions="Help.", model="test/script", model_settings=script(turn))
        made = tool(name="weather")(lambda_with_name(lambda city: Answer(21)))
        assert runnel.runs.run(agent, "Go", tools=[made]).tool_calls[0].output == {"celsius": 21}
        values(runnel, agent)
        misplaced(runnel, agent)
        if pydantic is not None:
            with_models(runnel)


def values(runnel, agent):
    """Values that are usual in Python are outputs, and an error is readable."""

    def returning(value):
        made = tool(name="weather")(lambda_with_name(lambda city: value))
        return runnel.runs.run(agent, "Go", tools=[made]).tool_calls[0].output

    day = datetime.datetime(2026, 11, 30, 9, 0, tzinfo=datetime.timezone.utc)
    assert returning({"at": day, "on": day.date()}) == {"at": "2026-11-30T09:00:00+00:00", "on": "2026-11-30"}
    assert returning([Unit.CELSIUS, {1}, decimal.Decimal("1.10"), uuid.UUID(int=1), pathlib.PurePosixPath("a/b")]) == [
        "C", [1], "1.10", "00000000-0000-0000-0000-000000000001", "a/b"
    ]

    def weather(city: str):
        return {}[city]

    run = runnel.runs.run(agent, "Go", tools=[weather])
    assert run.tool_calls[0].error.message == "KeyError('Oslo')", run.tool_calls

    # Arguments that a partial has set stay as they are, whatever the model gives.
    def keyed(city: str, unit: str):
        return unit

    made = tool(name="weather")(functools.partial(keyed, unit="K"))
    assert runnel.runs.run(agent, "Go", tools=[made]).tool_calls[0].output == "K"
    call = {"tool_calls": [{"name": "weather", "arguments": {"city": "Oslo", "unit": "F"}}]}
    agent = runnel.agents.create(
        name="Clerk", instructions="Help.", model="test/script", model_settings={"script": [call, {"text": "Done."}]}
    )
    assert runnel.runs.run(agent, "Go", tools=[made]).tool_calls[0].status == "failed"
    free = tool(name="weather", parameters={"type": "object"})(functools.partial(keyed, unit="K"))
    assert runnel.runs.run(agent, "Go", tools=[free]).tool_calls[0].output == "K"


def misplaced(runnel, agent):
    """Functions and names in the wrong place are refused with what helps, before a run begins."""
    before = len(list(runnel.runs.list(agent_id=agent.id)))
    for tools, words in (
        (weather, "tools=[lookup]"),
        ("weather", "tools=[lookup]"),
        (["weather"], "tools={'lookup': lookup}"),
        ([weather, None], "None, which is not a function"),
        ({"weather": 3}, "tools['weather'] is not a function"),
    ):
        assert words in type_error(lambda: runnel.runs.run(agent, "Go", tools=tools)), tools
        assert words in type_error(lambda: runnel.runs.stream(agent_id=agent.id, input="Go", tools=tools)), tools
    assert "sync([lookup])" in type_error(lambda: runnel.tools.sync({"weather": weather}))
    assert "an agent has ids" in type_error(
        lambda: runnel.agents.sync("Clerk", instructions="Help.", model="test/echo", tools=[weather])
    )
    assert len(list(runnel.runs.list(agent_id=agent.id))) == before


class Unit(enum.Enum):
    CELSIUS = "C"


def with_models(runnel):
    class Line(pydantic.BaseModel):
        article: str
        count: int = pydantic.Field(1, ge=1, description="How many.")

    def order(lines: List[Line], copy: bool = False):
        """Orders."""
        return sum(line.count for line in lines)

    made = tool(order)
    assert made.parameters["$defs"]["Line"]["properties"]["count"]["description"] == "How many.", made.parameters
    turn = [("order", {"lines": [{"article": "tea"}, {"article": "cup", "count": 3}]})]
    agent = runnel.agents.create(name="Clerk", instructions="Help.", model="test/script", model_settings=script(turn))
    run = runnel.runs.run(agent, "Go", tools=[order])
    assert run.tool_calls[0].output == 4, run.tool_calls

    def noted(who: Annotated[str, "The name."], line: Line):
        return line

    assert tool(noted).parameters["properties"]["who"]["description"] == "The name.", tool(noted).parameters

    class Stay(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(strict=True)
        since: datetime.date
        unit: Unit

    def stays(stay: Stay):
        return [stay.since.year, stay.unit is Unit.CELSIUS]

    call = {"tool_calls": [{"name": "stays", "arguments": {"stay": {"since": "2026-11-30", "unit": "C"}}}]}
    agent = runnel.agents.create(
        name="Clerk", instructions="Help.", model="test/script", model_settings={"script": [call, {"text": "Done."}]}
    )
    run = runnel.runs.run(agent, "Go", tools=[stays])
    assert run.tool_calls[0].output == [2026, True], run.tool_calls

    # Fields as defaults describe parameters, and a call without them has the fields' own defaults.
    def fields(
        city: str = pydantic.Field(description="Its name."),
        days: int = pydantic.Field(3, description="How many.", ge=1),
        tags: List[str] = pydantic.Field(default_factory=list),
    ):
        return [city, days, tags]

    made = tool(name="weather")(fields)
    assert made.parameters["required"] == ["city"], made.parameters
    assert made.parameters["properties"]["city"] == {"description": "Its name.", "type": "string"}, made.parameters
    days = {"default": 3, "description": "How many.", "minimum": 1, "type": "integer"}
    assert made.parameters["properties"]["days"] == days, made.parameters
    call = {"tool_calls": [{"name": "weather", "arguments": {"city": "Oslo"}}]}
    agent = runnel.agents.create(
        name="Clerk", instructions="Help.", model="test/script", model_settings={"script": [call, {"text": "Done."}]}
    )
    assert runnel.runs.run(agent, "Go", tools=[made]).tool_calls[0].output == ["Oslo", 3, []]


class Ticket(TypedDict):
    topic: str
    urgent: bool


TICKET = {"topic": "billing", "urgent": True}


def answering(text):
    return {"name": "Clerk", "instructions": "Sort.", "model": "test/script", "model_settings": {"script": [{"text": text}] * 2}}


def typed_outputs(runnel):
    """The result of a run as a type of the program."""
    agent = runnel.agents.create(**answering('{"topic": "billing", "urgent": true}'))
    run = runnel.runs.run(agent, "Go", schema=Ticket)
    assert run.output_json == TICKET and run.output_json["urgent"] is True and run.status == "completed", run
    assert runnel.runs.run(agent, "Go", schema={"type": "object", "required": ["topic"]}).output_json == TICKET
    # Settings that the program gives besides stay.
    run = runnel.runs.run(agent, "Go", schema=Ticket, overrides={"instructions": "Otherwise."})
    assert run.output_json == TICKET, run
    missing = runnel.agents.create(**answering('{"topic": "billing"}'))
    try:
        runnel.runs.run(missing, "Go", schema=Ticket)
        raise SystemExit("an output that misses a field was taken")
    except library.RunFailedError as error:
        assert error.run.error.code == "output_schema_mismatch", error
    before = len(list(runnel.runs.list(agent_id=agent.id)))
    if pydantic is None:
        assert "pydantic" in type_error(lambda: runnel.runs.run(agent, "Go", schema=decimal.Decimal))
    else:
        class Card(pydantic.BaseModel):
            topic: str = pydantic.Field(description="One word.")
            urgent: bool

        @dataclasses.dataclass
        class Note:
            topic: str
            urgent: bool = False

        assert runnel.runs.run(agent, "Go", schema=Card).output_json == Card(**TICKET)
        assert runnel.runs.run(agent, "Go", schema=Note).output_json == Note(**TICKET)
        listed = runnel.agents.create(**answering('[{"topic": "a", "urgent": false}]'))
        assert runnel.runs.run(listed, "Go", schema=List[Card]).output_json == [Card(topic="a", urgent=False)]

        class Visit(pydantic.BaseModel):
            model_config = pydantic.ConfigDict(strict=True)
            on: datetime.date
            unit: Unit
            place: Tuple[float, float]

        # JSON has texts and lists for what a strict type wants as a date, an enum and a tuple.
        visited = runnel.agents.create(**answering('{"on": "2026-11-30", "unit": "C", "place": [59.9, 10.7]}'))
        visit = runnel.runs.run(visited, "Go", schema=Visit).output_json
        assert visit == Visit(on=datetime.date(2026, 11, 30), unit=Unit.CELSIUS, place=(59.9, 10.7)), visit

        class Checked(Card):
            @pydantic.field_validator("topic")
            @classmethod
            def known(cls, topic):
                raise ValueError(f"{topic} is not known")

        before = len(list(runnel.runs.list(agent_id=agent.id)))
        try:
            runnel.runs.run(agent, "Go", schema=Checked)
            raise SystemExit("a value that the type refuses was taken")
        except library.RunnelError as error:
            # The run is completed, and its output can be read.
            assert "billing is not known" in error.message and runnel.runs.retrieve(error.run_id).output_json == TICKET
        before += 1
        assert "lambda" in type_error(lambda: runnel.runs.run(agent, "Go", schema=lambda: 1))
    assert len(list(runnel.runs.list(agent_id=agent.id))) == before


def errors_of_readers(runnel):
    """An error of the program's own functions tells during which run it happened, and stays what it is."""
    agent = runnel.agents.create(**answering("Done."))

    def fails(event):
        raise KeyError("mine")

    try:
        runnel.runs.run(agent, "Go", on_event=fails)
        raise SystemExit("an error was lost")
    except KeyError as error:
        assert error.args == ("mine",) and runnel.runs.retrieve(error.run_id).agent_id == agent.id

    def stops(event):
        raise library.RunnelError("enough")

    try:
        runnel.runs.run(agent, "Go", on_event=stops)
        raise SystemExit("an error was lost")
    except library.RunnelError as error:
        assert str(error) == "enough" and error.run_id is not None


def noted_docstrings():
    def google(city: str):
        """The weather.

        Note: Only for Europe.

        Important:
            Call it once.

            Not twice.

        Returns:
            Degrees.

        Args:
            city: Its name.

        Note:
            Written by Ada.
        """

    made = tool(google)
    expected = "The weather.\n\nNote: Only for Europe.\n\nImportant:\n    Call it once.\n\n    Not twice."
    assert made.description == expected, made.description
    assert made.parameters["properties"]["city"]["description"] == "Its name.", made.parameters

    def numpy(city: str):
        """The weather.

        Notes
        -----
        Only for Europe.

        Parameters
        ----------
        city : str
            Its name.

        Examples
        --------
        numpy("Oslo")
        """

    made = tool(numpy)
    assert made.description == "The weather.\n\nNotes:\nOnly for Europe.", made.description
    assert made.parameters["properties"]["city"]["description"] == "Its name.", made.parameters


async def awaiting():
    async with AsyncRunnel() as runnel:
        turn = [("weather_later", {"city": "Oslo"}), ("weather", {"city": "Rome"})]
        agent = await runnel.agents.create(name="Clerk", instructions="Help.", model="test/script", model_settings=script(turn))
        run = await runnel.runs.run(agent, "Go", tools=[weather_later, weather])
        assert [call.output for call in run.tool_calls] == ["clear in Oslo", {"city": "Rome", "celsius": 21}], run.tool_calls
        stream = runnel.runs.stream(agent_id=agent.id, input="Go", tools=[weather_later, weather])
        assert "".join([piece async for piece in stream.text_deltas()]) == "Done."
        sorter = await runnel.agents.create(**answering('{"topic": "billing", "urgent": true}'))
        assert (await runnel.runs.run(sorter, "Go", schema=Ticket)).output_json == TICKET

        async def fails(event):
            raise KeyError("mine")

        try:
            await runnel.runs.run(sorter, "Go", on_event=fails)
            raise SystemExit("an error was lost")
        except KeyError as error:
            assert error.run_id is not None


assert (pydantic is not None) == (sys.argv[1] == "pydantic"), sys.path
described()
noted_docstrings()
unusual()
typed_outputs(Runnel())
errors_of_readers(Runnel())
blocking()
asyncio.run(awaiting())
print("done")
