# Written for the client that awaits; without the async words it is the program of the client that blocks.
import io
import os
import tempfile
import time

import runnel_sdk as library
from runnel_sdk import AsyncRunnel


async def main():
    async with AsyncRunnel() as runnel:
        await objects(runnel)
        await pages(runnel)
        await errors(runnel)
        await files(runnel)
    await trust()
    print("done")


async def objects(runnel):
    agent = await runnel.agents.create(
        name="Clerk", instructions="Be brief.", model="test/echo", metadata={"team": "support"}
    )
    assert agent.id == agent["id"] and agent.metadata.team == "support" and "id" in dir(agent)
    assert (await runnel.agents.retrieve(agent.id)).name == "Clerk"
    changed = await runnel.agents.update(agent.id, description="Answers letters.")
    assert changed.description == "Answers letters." and changed.version == 2, changed
    cleared = await runnel.agents.update(agent.id, description=None)
    assert cleared.description is None
    versions = [version async for version in runnel.agents.versions.list(agent.id)]
    assert [one.version for one in versions] == [3, 2, 1]
    run = await runnel.runs.create(agent_id=agent.id, input="Hello", wait=60)
    assert run.status == "completed" and run.output == "Hello", run
    found = [one.id async for one in runnel.runs.list(agent_id=agent.id, metadata={"a": "b"})]
    assert found == []
    found = [one.id async for one in runnel.runs.list(agent_id=agent.id, created_at_gt="2020-01-01T00:00:00Z")]
    assert found == [run.id]
    assert (await runnel.agents.delete(agent.id)).deleted is True
    assert (await runnel.me.retrieve()).object == "me"
    try:
        await runnel.agents.create(name="Clerk", instructions="", model="test/echo", colour="red")
        raise SystemExit("an unknown argument was accepted")
    except TypeError as error:
        assert "colour" in str(error)
    try:
        agent.colour
        raise SystemExit("an unknown field was found")
    except AttributeError as error:
        assert "colour" in str(error)


async def pages(runnel):
    mark = f"p{time.time_ns()}"
    made = [(await runnel.threads.create(metadata={"mark": mark, "number": str(at)})).id for at in range(5)]
    listed = runnel.threads.list(limit=2, metadata={"mark": mark})
    assert [thread.id async for thread in listed] == made[::-1]
    assert [thread.id async for thread in listed] == made[::-1]  # Again, from the start.
    assert [len(page.data) async for page in listed.pages()] == [2, 2, 1]
    first = await listed.first_page()
    assert first.has_more and first.last_id == made[3]
    forward = runnel.threads.list(limit=2, metadata={"mark": mark}, order="asc")
    assert [thread.id async for thread in forward] == made
    before = runnel.threads.list(limit=2, metadata={"mark": mark}, ending_before=made[1])
    assert sorted([thread.id async for thread in before]) == sorted(made[2:])
    for id in made:
        await runnel.threads.delete(id)


async def errors(runnel):
    try:
        await runnel.agents.retrieve("agt_none")
        raise SystemExit("an agent that there is not was found")
    except library.NotFoundError as error:
        assert error.status == 404 and error.code == "resource_not_found", vars(error)
        assert error.request_id and error.doc_url and str(error)
    try:
        await runnel.agents.create(name="", instructions="", model="none/none", max_turns=-1)
        raise SystemExit("an agent that is not valid was created")
    except library.BadRequestError as error:
        assert error.code == "validation_failed" and len(error.errors) > 1, vars(error)
        assert error.param and error.errors[0].param
    try:
        await AsyncRunnel(api_key="sk_test_none").me.retrieve()
        raise SystemExit("a key that there is not was accepted")
    except library.AuthenticationError as error:
        assert error.status == 401
    same = [
        await runnel.threads.create(metadata={"once": "yes"}, idempotency_key=f"once-{os.getpid()}") for _ in range(2)
    ]
    assert same[0].id == same[1].id
    try:
        await runnel.threads.create(metadata={"once": "no"}, idempotency_key=f"once-{os.getpid()}")
        raise SystemExit("a key was used for two requests")
    except library.ConflictError as error:
        assert error.code == "idempotency_key_reused"
    try:
        await runnel.threads.create(metadata={"not": float("nan")})
        raise SystemExit("what is not JSON was sent")
    except ValueError:
        pass


async def files(runnel):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "notes.txt")
        with open(path, "w") as written:
            written.write("Oslo: snow\n")
        by_path = await runnel.files.upload(path, purpose="retrieval")
        with open(path, "rb") as opened:
            by_file = await runnel.files.upload(opened, purpose="retrieval", filename="other.txt")
    by_bytes = await runnel.files.upload(b"Oslo: rain\n", purpose="retrieval", filename="rain.txt", metadata={"a": "b"})
    by_memory = await runnel.files.upload(io.BytesIO(b"Oslo: sun\n"), purpose="retrieval", filename="sun.txt")
    uploaded = [by_path, by_file, by_bytes, by_memory]
    assert [file.filename for file in uploaded] == ["notes.txt", "other.txt", "rain.txt", "sun.txt"], uploaded
    assert by_bytes.metadata == {"a": "b"}
    assert await runnel.files.content(by_path.id) == b"Oslo: snow\n"
    assert await runnel.files.content(by_bytes.id) == b"Oslo: rain\n"
    for file in uploaded:
        await runnel.files.delete(file.id)


async def trust():
    """The certificate comes from RUNNEL_CACERT, or from `ca`; without it the server is not trusted, at once."""
    certificate = os.environ.pop("RUNNEL_CACERT")
    async with AsyncRunnel(ca=certificate) as runnel:
        await runnel.me.retrieve()
    async with AsyncRunnel(max_retries=1000) as runnel:
        try:
            await runnel.me.retrieve()
            raise SystemExit("a certificate that nobody signed was trusted")
        except library.CertificateError as error:
            assert isinstance(error, library.APIConnectionError)
            assert "CERTIFICATE_VERIFY_FAILED" in str(error) and "RUNNEL_CACERT" in str(error), error
        try:
            await runnel.runs.stream(agent_id="agt_none", input="Hello").done()
            raise SystemExit("a certificate that nobody signed was trusted")
        except library.CertificateError as error:
            assert isinstance(error, library.APIConnectionError)
            assert "CERTIFICATE_VERIFY_FAILED" in str(error) and "RUNNEL_CACERT" in str(error), error
    for wrong in [os.path.join(tempfile.gettempdir(), "there-is-none.pem"), os.devnull]:
        try:
            AsyncRunnel(ca=wrong)
            raise SystemExit("a certificate that there is not was used")
        except library.RunnelError as error:
            assert wrong in str(error)
    os.environ["RUNNEL_CACERT"] = certificate
    key = os.environ.pop("RUNNEL_API_KEY")
    try:
        AsyncRunnel()
        raise SystemExit("a client without a key was made")
    except library.RunnelError as error:
        assert "RUNNEL_API_KEY" in str(error)
    os.environ["RUNNEL_API_KEY"] = key
