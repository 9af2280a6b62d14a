import {
  type OAuthServer,
  oauthClientId,
  oauthClientSecret,
  startOAuthServer,
} from "../../server/testing/oauth-server.ts";
import { createAgent, createTool, stubConnection } from "../fixtures.ts";
import { type Runnel, startRunnel } from "../harness.ts";
import { startModelServer } from "../model-server.ts";
import { startToolServer } from "../tool-server.ts";
import { createRunClient, type RunClient, type StormState } from "./client.ts";
import { createEventSender, createStormTrigger } from "./event-sender.ts";
import { type Figures, figuresOf } from "./figures.ts";
import { type CounterName, type Counters, createJudge, paths } from "./judge.ts";
import { createLives } from "./lives.ts";
import { createRandom } from "./random.ts";
import { inputWord } from "./readings.ts";
import { type StormReceiver, startStormReceiver } from "./receiver.ts";
import { createRecord, type Journal, type RecordedRun } from "./record.ts";

interface StormOptions {
  /** Path of the executable; by default the one under test. */
  program?: string;
  /** Extra environment variables for `program`. */
  environment?: Record<string, string>;
  kills: number;
  runs: number;
  seed: number;
  /** Ends once this counter is not zero: an injected fault needs no full storm. */
  until?: CounterName;
  /** Effects that the kills must have. */
  demanded?: DemandedEffects;
}

/** Chance decides what a kill hits: the storm goes on until each of these figures is above `above`. */
interface DemandedEffects {
  figures: readonly string[];
  above: number;
  /** Kills after which it ends anyway, with the effects that it missed. */
  kills_most: number;
}

/** Result of a storm: the violations, the counts, and the faults in words. */
export interface StormReport {
  counters: Counters;
  figures: Figures;
  faults: string[];
  /** Demanded effects that no kill had. */
  missed: string[];
}

// Milliseconds from start to kill. The server needs about 70 ms to start.
const serving_ms = [40, 160] as const;
// Time limits; shorter for an executable with an injected fault.
const limitsOf = (isBroken: boolean) =>
  isBroken ? { hold_ms: 10_000, patience_ms: 30_000 } : { hold_ms: 60_000, patience_ms: 120_000 };
const calm_ms = 60_000;
/** Runs for each event and for each thread. */
const perEvent = 5;
const perThread = 6;
/** Runs for each user. */
const perUser = 3;

/**
 * Kills the executable repeatedly while runs of nine steps execute against stubs that survive it, and clients start
 * runs, read streams and answer calls; then compares all observations.
 */
export async function runStorm({
  kills,
  runs,
  seed,
  until,
  demanded,
  ...executable
}: StormOptions): Promise<StormReport> {
  const begun = performance.now();
  const { hold_ms, patience_ms } = limitsOf(until !== undefined);
  await using world = await startWorld(executable, seed, runs);
  const { server, trigger, lives, record, judge, shared, tools, receiver } = world;
  const { random } = shared;
  const following: Promise<void>[] = [];
  const launch = ({ follow }: Pick<RunClient, "follow">, delay_ms = 0) =>
    following.push(Bun.sleep(delay_ms).then(follow));
  const figures = { kills: 0, held: 0, launched: 0 };
  const hits = (): Figures => ({ ...figures, ...figuresOf(record, tools, shared), ...receiver.figures });
  const report = (): StormReport => {
    const seconds = Math.round((performance.now() - begun) / 100) / 10;
    const counted = { ...hits(), seconds };
    return {
      counters: judge.counters(),
      figures: counted,
      faults: judge.faults(),
      missed: missedOf(demanded, counted),
    };
  };
  const goesOn = (): boolean =>
    figures.kills < kills ||
    (demanded !== undefined && figures.kills < demanded.kills_most && missedOf(demanded, hits()).length > 0);

  while (goesOn()) {
    for (; figures.launched < (runs * (figures.kills + 1)) / kills; figures.launched++) {
      launch(createRunClient(shared, `${inputWord} ${figures.launched}`), random.between(0, serving_ms[1]));
      if (figures.launched % perEvent > 0) continue;
      launch({ follow: createEventSender(shared, trigger, figures.launched) }, random.between(0, serving_ms[1]));
    }
    await Bun.sleep(random.between(...serving_ms)); // The random instant is the test.
    if (await waitForRunsAtRisk(record, shared, hold_ms)) figures.held++;
    await lives.kill();
    figures.kills++;
    record.update();
    judge.afterKill();
    if (until && judge.counters()[until] > 0) return report();
    // A run may have begun although its creation was not acknowledged: a client follows it as well.
    for (const id of record.runs.keys()) if (!shared.clients.has(id)) launch(createRunClient(shared, "", id));
    await lives.start();
  }
  await inTime(following, patience_ms);
  record.update();
  await redeliverFailed(world);
  await judge.atEnd(server);
  return report();
}

const missedOf = (demanded: DemandedEffects | undefined, hits: Figures): string[] =>
  demanded?.figures.filter((name) => !(hits[name]! > demanded.above)) ?? [];

/** Starts the server, stubs that outlive its process, two agents, and the observers. */
async function startWorld(executable: Pick<StormOptions, "program" | "environment">, seed: number, runs: number) {
  await using started = new AsyncDisposableStack();
  const model = started.use(startModelServer());
  const tools = started.use(startToolServer());
  const environment = { ...stubConnection(model.url), ...executable.environment };
  const issuer = started.use(await startOAuthServer());
  const receiver = started.use(startStormReceiver(createRandom(seed + 1)));
  const server = started.use(
    await startRunnel({ program: executable.program, environment, flags: ["--insecure-http"] }),
  );
  const lives = started.use(createLives(server));
  const oauthClient = await createOAuthClient(server, issuer);
  const agents = [
    await createStormAgent(server, tools.url, "ask", { issuer, oauthClient }),
    await createStormAgent(server, tools.url, "report", { issuer, oauthClient }),
  ];
  agents.push(await createFrontAgent(server, tools.url, agents[0]!));
  const trigger = await createStormTrigger(server, agents[0]!);
  const threads = await Promise.all(
    Array.from({ length: Math.ceil(runs / perThread) }, async () => (await server.post("/v1/threads", {})).body.id),
  );
  const webhook = { url: receiver.url, events: ["run.completed", "run.failed"] };
  const { body } = await server.post("/v1/webhooks", webhook);
  receiver.trust(body.secret);
  const shared: StormState = {
    lives,
    random: createRandom(seed),
    agents,
    threads,
    issuer,
    users: Array.from({ length: Math.ceil(runs / perUser) }, (_, number) => `user-${number}`),
    clients: new Map(),
    claims: agents.map((agent_id) => ({ agent_id })),
    refusals: [],
    versions: new Map(),
    stale: [],
    said: [],
    resumed: new Set(),
    doubled: [],
    figures: { streams: 0, answers: 0, pauses: 0, refused_consents: 0 },
  };
  const record = createRecord(`${server.dataDir}/runnel.db`);
  const judge = createJudge({ record, model, tools, shared, receiver });
  const rest = started.move();
  const webhookId: string = body.id;
  return {
    server,
    trigger,
    lives,
    tools,
    shared,
    record,
    judge,
    receiver,
    webhookId,
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}

/** Redelivers what was refused, because its retries are minutes or hours away; the receiver is healthy now. */
async function redeliverFailed({ server, receiver, record, webhookId }: Calmed): Promise<void> {
  receiver.heal();
  await server.post(`/v1/webhooks/${webhookId}/redeliver`, { since: "2000-01-01T00:00:00Z" });
  const end = performance.now() + calm_ms;
  while (receiver.unheard(record.runs.values()).length > 0 && performance.now() < end) await Bun.sleep(20);
}

interface Calmed {
  server: Runnel;
  receiver: StormReceiver;
  record: Journal;
  webhookId: string;
}

/** Runs read their whole thread: none gets that long. */
const memory = { history: { max_messages: 200 } };

/** Creates an OAuth client for which each user has to consent. */
async function createOAuthClient(server: Runnel, { url: issuer }: OAuthServer): Promise<string> {
  const { status, body } = await server.post("/v1/oauth_clients", {
    name: "accounts",
    grant: "authorization_code",
    per_user: true,
    issuer,
    client_id: oauthClientId,
    client_secret: oauthClientSecret,
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.id;
}

/**
 * Creates an agent with four kinds of tools; a non-idempotent one either asks a person, or reports "unknown" to the
 * model, and one acts as the run's user.
 */
async function createStormAgent(
  server: Runnel,
  toolsUrl: string,
  on_unknown: "ask" | "report",
  { issuer, oauthClient }: { issuer: OAuthServer; oauthClient: string },
): Promise<string> {
  const safe = { url: `${toolsUrl}${paths.safe}`, idempotent: true };
  const once = { url: `${toolsUrl}${paths.once}`, idempotent: false, ...(on_unknown !== "ask" && { on_unknown }) };
  const auth = { type: "oauth", oauth_client_id: oauthClient };
  const own = { url: `${issuer.url}/api`, method: "GET", idempotent: true, auth };
  const tools: string[] = [];
  for (const tool of [safe, own, once, safe, once, {}]) tools.push((await createTool(server, tool)).id);
  return createAgent(server, "tells-2", { tools, memory });
}

/** Creates an agent that hands its runs over to another one, which makes its own calls then. */
async function createFrontAgent(server: Runnel, toolsUrl: string, agent_id: string): Promise<string> {
  const safe = { url: `${toolsUrl}${paths.safe}`, idempotent: true };
  const tools: string[] = [];
  for (const tool of [safe, safe, safe]) tools.push((await createTool(server, tool)).id);
  return createAgent(server, "tells-2", { tools, memory, handoffs: [{ agent_id, filter: "no_tool_calls" }] });
}

/**
 * Three recoveries without a completed step rightly end a run as a crash loop, which is not tested here: after two of
 * them a run gets its step before the next kill. Returns true if one had to be waited for.
 */
async function waitForRunsAtRisk(record: Journal, { clients }: StormState, most_ms: number): Promise<boolean> {
  const atRisk = [...record.runs.values()].filter(isAtRisk);
  const hasMoved = ({ id, rows }: RecordedRun) => {
    const client = clients.get(id);
    return (
      !client || client.isOver() || client.events.some(({ event, data }) => isStep(event) && data.seq > rows.length)
    );
  };
  const end = performance.now() + most_ms;
  let waited = false;
  for (; !atRisk.every(hasMoved) && performance.now() < end; waited = true) await Bun.sleep(5);
  return waited;
}

const isStep = (type: string) => type === "step.completed";

function isAtRisk({ status, rows }: RecordedRun): boolean {
  if (status !== "in_progress") return false;
  const since = rows.slice(rows.findLastIndex(({ type }) => isStep(type)) + 1);
  return since.some(({ type }) => type === "run.recovered");
}

/** Waits for all of them up to a limit; a run that has not ended by then is a finding. */
async function inTime(work: Promise<unknown>[], patience_ms: number): Promise<void> {
  const patience = Promise.withResolvers<void>();
  const timer = setTimeout(patience.resolve, patience_ms);
  await Promise.race([Promise.all(work), patience.promise]).finally(() => clearTimeout(timer));
}
