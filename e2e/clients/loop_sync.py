

def asynchronous(runnel, agent, tools):
    """A function that has to be awaited is refused before anything is called."""
    import asyncio

    try:
        runnel.runs.run(agent, "How is the weather?", tools={name: asyncio.sleep for name in tools})
        raise SystemExit("a function that has to be awaited was called")
    except library.RunnelError as error:
        assert "AsyncRunnel" in str(error)
    assert calls == []
