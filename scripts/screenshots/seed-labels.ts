import type { Json, Runnel } from "../../e2e/harness.ts";

type Make = (path: string, body: Json) => Promise<Json>;

/** An agent with labels of every kind. */
export interface LabelledAgents {
  /** Labels that split, that the server rolled back, and that hold one version. */
  released: string;
  /** An agent with forty labels, one with the longest name. */
  labelled: string;
}

const script = (text: string): Json => ({ script: [{ text }] });
const failing: Json = { script: [{ error: "The provider returned 503: the model is overloaded." }] };

/** Creates agents with several versions, labels with a past, and runs by label with scores. */
export async function seedLabels(make: Make, server: Runnel): Promise<LabelledAgents> {
  const send = async (method: "PUT" | "PATCH", path: string, body: Json) => {
    const answer = await server.fetch(path, { method, body: JSON.stringify(body) });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
  };
  const agentOf = async (name: string, settings: Json[]): Promise<string> => {
    const [first, ...others] = settings;
    const body = { name, instructions: "Help with refunds.", model: "test/script", model_settings: first };
    const { id } = await make("/v1/agents", body);
    for (const model_settings of others) await send("PATCH", `/v1/agents/${id}`, { model_settings });
    return id;
  };
  const says = [script("Of course."), script("Of course, at once."), script("Gladly."), failing, script("Sure.")];
  const released = await agentOf("Refund letters", says);
  const set = (label: string, body: Json) => send("PUT", `/v1/agents/${released}/labels/${label}`, body);
  const run = (label: string, user_id: string) =>
    make("/v1/runs?wait=20", { agent_id: released, label, user_id, input: "May I return it?" });

  await set("staging", { version: 3 });
  await set("staging", { version: 4, rollback_on: { failure_rate: 0.5, min_runs: 2 } });
  for (const user of ["ada", "bob"]) await run("staging", user);

  for (const version of [1, 2]) await set("production", { version });
  const split = [
    { version: 3, percent: 25 },
    { version: 2, percent: 75 },
  ];
  const rollback_on = { failure_rate: 0.2, score: { name: "feedback", below: 0.5 }, min_runs: 20 };
  await set("production", { split, rollback_on });
  for (let n = 0; n < 12; n++) {
    const { id } = await run("production", `user_${n}`);
    if (n % 2 === 0) await send("PUT", `/v1/runs/${id}/scores/feedback`, { value: n % 4 === 0 ? 1 : 0 });
  }
  await set("beta", { version: 5 });

  const labelled = await agentOf("Many releases", [script("One."), script("Two.")]);
  const names = Array.from({ length: 39 }, (_, n) => `tenant-${String(n + 1).padStart(2, "0")}`);
  for (const name of [`region-${"north-".repeat(20)}`.slice(0, 64), ...names])
    await send("PUT", `/v1/agents/${labelled}/labels/${name}`, { version: 1 });
  return { released, labelled };
}
