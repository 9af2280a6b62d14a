import type { Json, Runnel } from "../../e2e/harness.ts";

type Make = (path: string, body: Json) => Promise<Json>;

/** Creates a suite with equal, diverged and failed cases, and one that was never run. */
export async function seedSuite(
  make: Make,
  server: Runnel,
  runs: readonly string[],
): Promise<{ suite: string; suiteCase: string }> {
  const model = { model: "test/script", model_settings: { script: [{ text: "It left Frankfurt this morning." }] } };
  const agentOf = (name: string) => make("/v1/agents", { name, instructions: "Be brief.", ...model });
  const [changed, gone] = [await agentOf("Order status"), await agentOf("Returns of last year")];
  const run = (agent_id: string, input: string) => make("/v1/runs?wait=20", { agent_id, input });
  const [first, second, last] = [
    await run(changed.id, "Where is order 4711?"),
    await run(changed.id, "And 4712?"),
    await run(gone.id, "May I return it?"),
  ];
  const suite = await make("/v1/suites", {
    name: "smoke",
    description: "What customers ask most, answered as it should be.",
    run_ids: [first.id, second.id, last.id, ...runs],
  });
  await make("/v1/suites", { name: "refunds-of-the-northern-region", run_ids: [first.id] });
  await make(`/v1/suites/${suite.id}/runs?wait=30`, {});
  const changes = { method: "PATCH", body: JSON.stringify({ instructions: "Be kind, and name the next step." }) };
  await server.fetch(`/v1/agents/${changed.id}`, changes);
  await server.fetch(`/v1/agents/${gone.id}`, { method: "DELETE" });
  await make(`/v1/suites/${suite.id}/runs?wait=30`, { live: { max_cost_usd: 0.5 } });
  return { suite: suite.id, suiteCase: first.id };
}
