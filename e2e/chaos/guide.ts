import type { Frame } from "../event-stream.ts";
import { type ParsedResponse, parseResponse } from "../harness.ts";
import type { Lives } from "./lives.ts";
import type { Random } from "./random.ts";

/** A message of a client to a run that is under way. */
export interface SaidMessage {
  run_id: string;
  content: string;
  /** True if the run took it, false if it refused it, null while there is no answer. */
  taken: boolean | null;
}

/** A statement of the server about a message or a pause. */
export type GuideClaim = { run_id: string; said: string } | { run_id: string; type: string };

/** The part of a storm's state that messages and pauses need. */
interface Shared {
  lives: Lives;
  random: Random;
  claims: { push(claim: GuideClaim): unknown };
  refusals: string[];
  said: SaidMessage[];
  resumed: Set<string>;
  figures: { pauses: number };
}

/** First word of messages that clients send to runs under way. */
export const sayWord = "say";

const messagesMost = 3;
/** Refusals of a run that makes no further model call. */
const tooLate = new Set(["run_already_terminal", "run_not_steerable"]);

/** Sends messages to a run while a client follows it, and pauses it once for a while. */
export function createGuide(shared: Shared, attempt: <T>(work: () => Promise<T>) => Promise<T | null>) {
  const { lives, random, claims, refusals, figures } = shared;
  const { server } = lives;
  let count = 0;
  let hasPaused = false;

  /** Sends a request until it is answered, sometimes twice at once. */
  async function untilAnswered(send: () => Promise<ParsedResponse>): Promise<ParsedResponse> {
    for (;;) {
      await lives.up();
      const twice = random.chance(0.2) ? [attempt(send)] : [];
      const answers = await Promise.all([attempt(send), ...twice]);
      const answer = answers.find((each) => each && each.body.error?.code !== "idempotency_in_progress");
      if (answer) return answer;
    }
  }

  /** A repeated request with the same key is the same message. */
  async function say(runId: string): Promise<void> {
    const message: SaidMessage = { run_id: runId, content: `${sayWord} ${runId} ${++count}`, taken: null };
    shared.said.push(message);
    const headers = { "idempotency-key": crypto.randomUUID() };
    const body = JSON.stringify({ role: "user", content: message.content });
    const send = async () =>
      parseResponse(await server.fetch(`/v1/runs/${runId}/messages`, { method: "POST", headers, body }));
    const answer = await untilAnswered(send);
    message.taken = answer.status === 200;
    if (message.taken) claims.push({ run_id: runId, said: message.content });
    else refuse(runId, answer);
  }

  async function pause(runId: string): Promise<void> {
    const paused = await untilAnswered(() => server.post(`/v1/runs/${runId}/pause`, { reason: "Look at it." }));
    if (paused.status !== 200) return refuse(runId, paused);
    figures.pauses++;
    claims.push({ run_id: runId, type: "run.pause_requested" });
    await Bun.sleep(random.between(0, 150)); // The random length is the test: kills fall into pauses.
    shared.resumed.add(runId);
    const resumed = await untilAnswered(() => server.post(`/v1/runs/${runId}/resume`, {}));
    if (resumed.status !== 200) refuse(runId, resumed);
  }

  function refuse(runId: string, { status, body }: ParsedResponse): void {
    if (status !== 409 || !tooLate.has(body.error?.code)) refusals.push(`${runId}: ${status} ${JSON.stringify(body)}`);
  }

  return {
    /** Returns what the client does at this event, if anything. */
    hear(runId: string, { event }: Frame): Promise<void> | null {
      if (event === "step.completed" && count < messagesMost && random.chance(0.15)) return say(runId);
      if (event !== "step.started" || hasPaused || !random.chance(0.04)) return null;
      hasPaused = true;
      return pause(runId);
    },
  };
}
