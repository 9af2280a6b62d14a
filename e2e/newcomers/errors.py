from runnel_sdk import APIError, NotFoundError, RateLimitError, RunFailedError, Runnel, RunnelError

runnel = Runnel(max_retries=1, timeout=30)
try:
    runnel.agents.retrieve("agt_none")
except RateLimitError as error:
    print("later", error.headers.get("retry-after"))
except NotFoundError as error:
    print(error.status, error.status_code, error.code, error.message != "")
try:
    runnel.agents.create(name="", instructions="", model="test/echo")
except APIError as error:
    print(",".join(fault["param"] for fault in error.errors))
agent = runnel.agents.sync(
    "errors", instructions="", model="test/script", model_settings={"script": [{"error": "The model is ill."}]}
).agent
try:
    runnel.with_options(max_retries=0, headers={"x-team": "red"}).runs.run(agent, "Go")
except RunFailedError as error:
    print(error.run.status, error.run_id == error.run.id)
except RunnelError as error:
    print(error.run_id)
