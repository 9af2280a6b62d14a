import { APIError, NotFoundError, RateLimitError, RunFailedError, Runnel, RunnelError } from "runnel-sdk";

const runnel = new Runnel({ maxRetries: 1, timeoutMs: 30_000 });
try {
  await runnel.agents.retrieve("agt_none");
} catch (error) {
  if (error instanceof RateLimitError) console.log("later", error.headers.get("retry-after"));
  else if (error instanceof NotFoundError)
    console.log(error.status, error.statusCode, error.code, error.message !== "");
  else throw error;
}
try {
  await runnel.agents.create({ name: "", instructions: "", model: "test/echo" });
} catch (error) {
  if (!(error instanceof APIError)) throw error;
  console.log(error.errors.map(({ param }) => param).join());
}
const { agent } = await runnel.agents.sync("errors", {
  instructions: "",
  model: "test/script",
  model_settings: { script: [{ error: "The model is ill." }] },
});
try {
  await runnel.withOptions({ maxRetries: 0, headers: { "x-team": "red" } }).runs.run(agent, "Go");
} catch (error) {
  if (error instanceof RunFailedError) console.log(error.run.status, error.runId === error.run.id);
  else if (error instanceof RunnelError) console.log(error.runId);
}
