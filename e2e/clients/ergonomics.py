# What a program that is used to other clients expects: programs that are run twice, options, errors, lists, docstrings.
import asyncio
import pickle

import httpx

import runnel_sdk as library
from runnel_sdk import AsyncRunnel, Runnel, tool


def lookup(order: int, unit: str = None):
    """Finds an order.

    Args:
        order: The number on the bill.
        unit: The currency.

    Warning:
        It takes a minute.
    """
    return order


def in_numpy_style(city, unit="C", *, days: int = 1):
    """Returns the weather.

    It is that of today.

    Parameters
    ----------
    city : str
        Its name,
        in English.
    unit, days : {'C', 'F'}, optional
        What the other program
        has too.

    Returns
    -------
    float
        Degrees.
    """


def in_sphinx_style(city, unit: str = "C"):
    """Returns the weather.

    :param city: Its name,
        in English.
    :type city: str
    :param str unit: C or F.

    This belongs to nothing.

    :raises LookupError: There is no such city.
    """


def in_google_style(city):
    """Returns the weather: see also :meth:`other`.

    :meth:`other` returns more.

    Args:
        city: Its name.
    It ends here.
    """


def described():
    properties = tool(lookup).parameters["properties"]
    assert properties["unit"]["description"] == "The currency.", properties
    assert properties["unit"]["anyOf"] == [{"type": "string"}, {"type": "null"}], properties
    assert tool(lookup).parameters["required"] == ["order"], properties

    made = tool(in_numpy_style)
    described = {name: its["description"] for name, its in made.parameters["properties"].items()}
    both = "What the other program has too."
    assert described == {"city": "Its name, in English.", "unit": both, "days": both}, described
    assert made.description == "Returns the weather.\n\nIt is that of today.", made.description

    made = tool(in_sphinx_style)
    described = {name: its["description"] for name, its in made.parameters["properties"].items()}
    assert described == {"city": "Its name, in English.", "unit": "C or F."}, described
    assert made.description == "Returns the weather.", made.description

    made = tool(in_google_style)
    assert made.parameters["properties"]["city"]["description"] == "Its name.", made.parameters
    assert made.description.endswith(":meth:`other` returns more."), made.description


def blocking():
    sent = []
    counted = httpx.Client(verify=False, trust_env=False, event_hooks={"request": [sent.append]})
    with Runnel(http_client=counted, headers={"X-Team": "red"}) as runnel:
        # A program that is run twice has one tool and one agent.
        outcomes = []
        for _ in range(2):
            (made,) = runnel.tools.sync([lookup])
            result = runnel.agents.sync("Order desk", instructions="Help.", model="test/echo", tools=[made.tool.id])
            outcomes.append((made.outcome, result.outcome))
        assert outcomes == [("created", "created"), ("unchanged", "unchanged")], outcomes
        assert made.tool.type == "client" and made.tool.parameters["required"] == ["order"], made
        named = runnel.tools.sync("lookup", type="client", description="Finds.", parameters={"type": "object"})
        assert named.outcome == "updated" and sorted(named.changes) == ["description", "parameters"], named
        assert runnel.tools.sync([lookup], dry_run=True)[0].dry_run, "it was stored"

        # The calls of a tool that the agent has are answered by the function of its name, in a stream too.
        script = [{"tool_calls": [{"name": "lookup", "arguments": {"order": 4}}]}, {"text": "Done."}]
        settings = {"model": "test/script", "model_settings": {"script": script}}
        agent = runnel.agents.sync("Order desk", instructions="Help.", tools=[made.tool.id], **settings).agent
        stream = runnel.runs.stream(agent_id=agent.id, input="Go", tools={"lookup": lookup})
        stream.done()
        assert stream.text == "Done.", stream.text
        run = runnel.runs.retrieve(str(stream.run_id))
        assert run.tool_calls[0].output == 4, run.tool_calls
        assert "tool_calls" not in runnel.runs.retrieve(run.id, exclude="tool_calls,messages")

        # Headers of the client, of one with other options, and of one request.
        other = runnel.with_options(headers={"x-team": "blue"}, max_retries=0, timeout=5.0)
        other.me.retrieve()
        other.me.retrieve(extra_headers={"X-TEAM": "green"})
        list(other.agents.list(extra_headers={"X-Team": "grey"}))
        runnel.me.retrieve()
        assert [each.headers["x-team"] for each in sent[-4:]] == ["blue", "green", "grey", "red"], sent
        # Those of a run go with each of its requests.
        headers = {"x-team": "pink"}
        run = runnel.runs.run(agent, "Go", tools={"lookup": lookup}, extra_headers=headers)
        stream = runnel.runs.stream(agent_id=agent.id, input="Go", tools={"lookup": lookup}, extra_headers=headers)
        stream.done()
        runnel.runs.follow(run.id, extra_headers=headers).done()
        of_runs = sent[[each.headers["x-team"] for each in sent].index("pink") :]
        assert {each.headers["x-team"] for each in of_runs} == {"pink"} and len(of_runs) > 5, of_runs
        assert (other.max_retries, runnel.max_retries) == (0, 2)
        other.close()  # The connections are not its own.
        runnel.me.retrieve()

        # An error has what those of other clients have, and a pool of processes can return it.
        try:
            runnel.agents.retrieve("agt_none")
            raise SystemExit("an agent was found")
        except library.NotFoundError as error:
            again = pickle.loads(pickle.dumps(error))
            for each in (error, again):
                assert each.status_code == each.status == 404 and each.code == "resource_not_found", each
                assert each.message == str(each) and each.request_id, each
            assert type(again) is library.NotFoundError
        failed = pickle.loads(pickle.dumps(library.RunFailedError({"id": "run_1", "status": "failed"})))
        assert failed.run_id == "run_1" and failed.run["status"] == "failed", failed
    counted.close()


async def awaiting():
    async with AsyncRunnel() as runnel:
        page = await runnel.agents.list(limit=1)
        assert len(page.data) == 1 and page.has_more is False, page
        assert [each.name async for each in runnel.agents.list()] == ["Order desk"]

        # A decision that comes to nothing ends the functions that run beside it.
        waits = asyncio.Event()
        ended = []

        async def wait(city):
            waits.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                ended.append(city)
                raise

        async def decide(call):
            await waits.wait()
            raise LookupError("Nobody is there to decide.")

        paid = await runnel.tools.sync("pay", type="client", approval="always", parameters={"type": "object"})
        waiting = await runnel.tools.sync("wait", type="client", parameters={"type": "object"})
        calls = [{"name": "wait", "arguments": {"city": "Oslo"}}, {"name": "pay", "arguments": {}}]
        agent = await runnel.agents.create(
            name="Clerk",
            instructions="Help.",
            model="test/script",
            model_settings={"script": [{"tool_calls": calls}, {"text": "Done."}]},
            tools=[paid.tool.id, waiting.tool.id],
        )
        try:
            await runnel.runs.run(agent, "Go", tools={"wait": wait, "pay": lambda: 1}, decide=decide)
            raise SystemExit("the run was completed")
        except LookupError:
            assert ended == ["Oslo"], ended


described()
blocking()
asyncio.run(awaiting())
print("done")
