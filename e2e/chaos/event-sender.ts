import { createHmac } from "node:crypto";
import { type Json, parseResponse, type Runnel } from "../harness.ts";
import { createRunClient, type StormState } from "./client.ts";
import { inputWord } from "./readings.ts";

/** A trigger as its creation returned it. */
interface StormTrigger {
  path: string;
  secret: string;
}

/** Numbers of events that share a thread. */
const perThread = 15;

/** Returns the input of the run that an event makes. */
const inputOf = (number: string): string => `${inputWord} of event ${number}`;

/** True if this is the input of an event's run. */
export const isOfEvent = (input: string): boolean => input.startsWith(inputOf(""));

export async function createStormTrigger(server: Runnel, agent_id: string): Promise<StormTrigger> {
  const { status, body } = await server.post("/v1/triggers", {
    name: "events",
    agent_id,
    verification: "github",
    input: inputOf("{{body.number}}"),
    thread: "body.thread",
    rate_limit_per_minute: 6000,
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return { path: new URL(body.url).pathname, secret: body.secret };
}

/**
 * Sends an event until it is accepted, then follows its run, and sends the event again after a while: the same event
 * has one run.
 */
export function createEventSender(shared: StormState, { path, secret }: StormTrigger, number: number) {
  const { lives, random, claims, refusals, doubled } = shared;
  let run: string | null = null;

  async function send(): Promise<Json> {
    const body = JSON.stringify({ number, thread: Math.floor(number / perThread) });
    const headers = {
      "content-type": "application/json",
      "x-github-event": "issues",
      "x-github-delivery": `delivery ${number}`,
      "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
    };
    return parseResponse(await lives.server.fetch(path, { method: "POST", headers, body, key: null }));
  }

  const attempt = () => lives.during(send().catch(() => null));

  /** Sends the event once or twice at the same time. Returns false if the server died before its answer. */
  async function deliver(): Promise<boolean> {
    await lives.up();
    const answers = await Promise.all(random.chance(0.3) ? [attempt(), attempt()] : [attempt()]);
    for (const answer of answers) if (answer) hear(answer);
    return run !== null;
  }

  function hear({ status, body }: Json): void {
    if (status !== 200 && status !== 202)
      return void refusals.push(`event ${number}: ${status} ${JSON.stringify(body)}`);
    if (run !== null && run !== body.run_id) doubled.push(`event ${number}: ${run} and ${body.run_id}`);
    run ??= body.run_id as string;
    claims.push({ run_id: run });
  }

  return async function follow(): Promise<void> {
    while (!(await deliver()));
    if (!shared.clients.has(run!)) await createRunClient(shared, "", run).follow();
    await deliver();
  };
}
