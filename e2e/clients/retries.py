# Behind a proxy that loses the response of the first POST, refuses the first list, and is slow to a certain path.
import os

import httpx
import runnel_sdk as library
from runnel_sdk import AsyncRunnel


async def main():
    mark = str(os.getpid())
    async with AsyncRunnel(max_retries=3) as runnel:
        thread = await runnel.threads.create(metadata={"mark": mark})
        assert [one.id async for one in runnel.threads.list(metadata={"mark": mark})] == [thread.id]
        try:
            await runnel.agents.list(max_retries=0).first_page()
            raise SystemExit("a refusal was not told")
        except library.RateLimitError as error:
            assert error.status == 429 and error.headers["retry-after"] == "0" and error.code == "unknown"
            assert str(error) == "The server returned 429."
        try:
            await runnel.models.list(timeout=0.2, max_retries=0).first_page()
            raise SystemExit("a server that says nothing was waited for")
        except library.APITimeoutError as error:
            assert isinstance(error, library.APIConnectionError)
    transport = httpx.AsyncHTTPTransport(retries=0)
    async with httpx.AsyncClient(transport=transport) as own:
        async with AsyncRunnel(http_client=own) as runnel:
            await runnel.me.retrieve()
        assert not own.is_closed
    print("done")
