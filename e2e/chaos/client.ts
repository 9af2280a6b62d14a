import { createConsentBrowser } from "../../server/testing/consent-browser.ts";
import type { OAuthServer } from "../../server/testing/oauth-server.ts";
import type { Frame } from "../event-stream.ts";
import type { Json, ParsedResponse } from "../harness.ts";
import { createGuide, type GuideClaim, type SaidMessage } from "./guide.ts";
import type { Lives } from "./lives.ts";
import type { Random } from "./random.ts";

/** A statement of the server to a client that the database must therefore hold. */
export type Claim =
  | { agent_id: string }
  | { run_id: string }
  | { run_id: string; event: { seq: number; name: string } }
  | GuideClaim
  | { run_id: string; call_id: string };

/** State shared by the clients of a storm. */
export interface StormState {
  lives: Lives;
  random: Random;
  agents: string[];
  /** Threads that runs share; in each, one run follows the other. */
  threads: string[];
  /** Where users consent to the use of their accounts. */
  issuer: OAuthServer;
  users: string[];
  /** Clients by run id, from the acknowledgement on. */
  clients: Map<string, RunClient>;
  /** Claims made since the last start of the server. */
  claims: Claim[];
  /** Responses that a client must never get. */
  refusals: string[];
  /** The newest acknowledged version of each agent. */
  versions: Map<string, number>;
  /** Ids of runs that began with an outdated version. */
  stale: string[];
  /** Messages sent to runs under way. */
  said: SaidMessage[];
  /** Runs that clients have asked to go on. */
  resumed: Set<string>;
  /** Events for which a sender was told of two runs. */
  doubled: string[];
  figures: { streams: number; answers: number; pauses: number; refused_consents: number };
}

export type RunClient = ReturnType<typeof createRunClient>;

/** Starts one run and follows it to its end: reads its stream in pieces and answers its calls. */
export function createRunClient(shared: StormState, label: string, known: string | null = null) {
  const { lives, random, claims, clients, refusals, figures } = shared;
  const { server } = lives;
  const events: Frame[] = [];
  const texts = new Map<number, string>();
  const faults: string[] = [];
  const answers: Promise<void>[] = [];
  let id = known;
  let lastId: string | null = null;
  /** Length of the text of the newest step. */
  let lastLength = 0;
  let over = false;

  async function follow(): Promise<void> {
    for (let attempt = 1; id === null; attempt++) await create(`${label}.${attempt}`);
    while (!over) await tail();
    await Promise.all(answers);
  }

  /** Each attempt has its own label, because an unacknowledged attempt may have begun a run as well. */
  async function create(input: string): Promise<void> {
    const agent_id = random.pick(shared.agents);
    const thread = random.chance(0.3) && { thread_id: random.pick(shared.threads), if_thread_busy: "queue" };
    const body = { agent_id, input, ...(thread || { user_id: random.pick(shared.users) }) };
    await lives.up();
    if (random.chance(0.3)) await change(agent_id);
    const version = shared.versions.get(agent_id) ?? 0;
    if (random.chance(0.5)) return read("/v1/runs", { ...body, stream: true });
    const answer = await attempt(() => server.post("/v1/runs", body));
    if (answer?.status === 201 && answer.body.agent_version < version) shared.stale.push(answer.body.id);
    if (answer?.status === 201) acknowledge(answer.body.id);
    else if (answer) refusals.push(`create: ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  /** Creates a new version of an agent; only the version of its runs changes. */
  async function change(agentId: string): Promise<void> {
    const answer = await attempt(() => server.patch(`/v1/agents/${agentId}`, { description: `Of ${label}.` }));
    const { version = 0 }: { version?: number } = answer?.status === 200 ? answer.body : {};
    shared.versions.set(agentId, Math.max(version, shared.versions.get(agentId) ?? 0));
  }

  function acknowledge(runId: string): void {
    id = runId;
    clients.set(runId, client);
    claims.push({ run_id: runId });
  }

  async function tail(): Promise<void> {
    await lives.up();
    await read(`/v1/runs/${id}/events`);
  }

  /** Reads a stream until it ends, is cut, or enough is read. */
  async function read(path: string, body?: Json): Promise<void> {
    figures.streams++;
    await attempt(async () => {
      const stream = await server.stream(path, { body, after: lastId, onFrame: hear });
      const leave = random.chance(0.3) ? setTimeout(() => void stream.close(), random.between(5, 60)) : undefined;
      // A stream that is given up is closed, because its events would come a second time with those of the next one.
      await stream.rest().finally(async () => {
        clearTimeout(leave);
        await stream.close();
      });
      if (stream.response.status === 200) return;
      refusals.push(`${path} after ${lastId}: ${stream.response.status}`);
      over ||= stream.response.status === 404;
      await Bun.sleep(20);
    });
  }

  /** Resolves to null if the server died before its response. */
  const attempt = <T>(work: () => Promise<T>): Promise<T | null> => lives.during(work().catch(() => null));

  const guide = createGuide(shared, attempt);

  function hear(frame: Frame): void {
    lastId = frame.id;
    if (frame.event === "token") hearToken(frame);
    else hearEvent(frame);
  }

  function hearEvent(frame: Frame): void {
    const { event, data } = frame;
    if (id === null) acknowledge(data.run_id);
    const expected = events.length + 1;
    // An event in the middle of an answer has the length of the text before it.
    const places = [`${expected}`, `${expected}.${lastLength}`];
    if (data.seq !== expected || !places.includes(frame.id)) faults.push(`${id}: ${frame.id} came for ${expected}`);
    events.push(frame);
    claims.push({ run_id: data.run_id, event: { seq: data.seq, name: event } });
    if (event === "step.restarted") texts.delete(data.discards);
    const act = guide.hear(data.run_id, frame);
    if (act) answers.push(act);
    if (event === "run.requires_action") answers.push(...settle(data.required_action));
    if (event === "run.completed" || event === "run.failed") over = true;
  }

  /** Settles what the run waits for: its calls, and the consents of its user. */
  function settle({ submit_tool_outputs: { tool_calls }, authorizations = [] }: Json): Promise<void>[] {
    const consents = authorizations.map((one: Json) => consent(one, random.chance(0.1)));
    return tool_calls.length > 0 ? [answer(tool_calls), ...consents] : consents;
  }

  /** Sends the user to the authorization server and back, until the server has taken it or the run waits no more. */
  async function consent({ url, user_id }: Json, isRefused: boolean): Promise<void> {
    const { issuer } = shared;
    await Bun.sleep(random.between(0, 100)); // The random length is the test: kills fall into the wait.
    const browser = createConsentBrowser((path, init) => server.fetch(path, { key: null, ...init }));
    for (;;) {
      await lives.up();
      const opened = await attempt(() => browser.press(url));
      const location = opened?.headers.get("location");
      await opened?.text().catch(() => "");
      if (opened?.status === 409 || opened?.status === 404) return; // It was settled before, or cancelled.
      if (!location) continue;
      const state = new URL(location).searchParams.get("state") ?? "";
      const refusal = `/oauth/callback?${new URLSearchParams({ error: "access_denied", state, iss: issuer.url })}`;
      const back = await attempt(() => browser.visit(isRefused ? refusal : issuer.consent(location, user_id)));
      await back?.text().catch(() => "");
      if (isRefused && back?.status === 400) figures.refused_consents++;
      await Bun.sleep(20); // The run may not have heard of it yet: the address says when it waits no more.
    }
  }

  function hearToken({ id: at, data }: Frame): void {
    const text = (texts.get(data.seq) ?? "") + data.delta;
    if (text.length !== data.offset || at !== `${events.length}.${data.offset}`)
      faults.push(`${id}: ${at} came after ${text.length - data.delta.length} characters`);
    texts.set(data.seq, text);
    lastLength = text.length;
  }

  /**
   * Answers all calls, or the first and then the rest; repeats each request until it is acknowledged, and often once
   * more.
   */
  async function answer(calls: Json[]): Promise<void> {
    const some = random.chance(0.3) ? calls.slice(0, 1) : calls;
    const tool_outputs = some.map(({ tool_call_id, needs }) => ({
      tool_call_id,
      ...answerTo(tool_call_id, needs),
    }));
    const submit = () => server.post(`/v1/runs/${id}/submit_tool_outputs`, { tool_outputs });
    for (let taken = false; !taken; ) {
      await lives.up();
      figures.answers++;
      const twice = random.chance(0.2) ? [attempt(submit)] : [];
      for (const one of await Promise.all([attempt(submit), ...twice])) taken = take(one, some) || taken;
    }
  }

  function take(answer: ParsedResponse | null, calls: Json[]): boolean {
    if (!answer) return false;
    if (answer.status !== 200) refusals.push(`${id}: ${answer.status} ${JSON.stringify(answer.body)}`);
    else claims.push(...calls.map((call) => ({ run_id: id!, call_id: call.tool_call_id })));
    return true;
  }

  const client = { acknowledged: known === null, follow, id: () => id, isOver: () => over, events, texts, faults };
  if (known) clients.set(known, client);
  return client;
}

/** Returns the answer to a call; always the same, because a retrying client may not change its mind. */
function answerTo(callId: string, needs: string): Json {
  if (needs === "output") return { output: { read: callId } };
  const words = [{ output: "It happened." }, { decision: "approve" }, { decision: "reject" }];
  return words[callId.charCodeAt(callId.length - 1) % words.length];
}
