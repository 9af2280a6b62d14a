

async def asynchronous(runnel, agent, tools):
    """Functions that have to be awaited run at the same time: each waits here for the other one."""
    import asyncio

    both = asyncio.Barrier(2) if hasattr(asyncio, "Barrier") else None

    async def meet(city):
        if both:
            await both.wait()
        calls.append(("meet", city))
        return city

    run = await runnel.runs.run(agent, "How is the weather?", tools={name: meet for name in tools})
    assert run.status == "completed" and sorted(calls) == [("meet", "Oslo"), ("meet", "Rome")], calls
