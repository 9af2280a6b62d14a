import { type Answers, answerCall, type PendingCall, readAnswers, type ToolAnswer } from "./answer-calls.ts";
import { type ApiClient, ConnectionLost } from "./api-client.ts";
import { type ClientFlags, openClient } from "./client-options.ts";
import { CliError, exitCodes } from "./exit-code.ts";
import { findAgent } from "./find-agent.ts";
import { writeOut } from "./output.ts";
import { printable } from "./print.ts";
import type { StreamFrame } from "./read-frames.ts";
import { createRunScreen, type RunScreen } from "./run-screen.ts";

export interface RunFlags extends ClientFlags {
  output?: string[];
  decision?: string[];
}

interface Run {
  id: string;
  status: string;
  required_action: {
    submit_tool_outputs: { tool_calls: PendingCall[] };
    authorizations?: { name: string; url: string | null }[];
  } | null;
}

const retries = 30;
const pause_ms = 1000;

/** Starts a run and follows it to its end, across broken connections and server restarts. */
export async function run(agent: string, input: string, flags: RunFlags): Promise<void> {
  const answers = readAnswers(flags.output, flags.decision);
  const client = await openClient(flags);
  const screen = createRunScreen({ json: flags.json ?? false });
  const { id } = await client.post<Run>("/runs", { agent_id: await findAgent(client, agent), input });
  const asking = new AbortController();
  const stopListening = cancelOnInterrupt(client, id, asking, screen);
  screen.note(id);
  try {
    const completed = await follow(client, id, (frame) => react(client, id, frame, { answers, screen, asking }));
    if (flags.json) writeOut(`${JSON.stringify(await client.get(`/runs/${id}`))}\n`);
    process.exitCode = completed ? exitCodes.done : exitCodes.failed;
  } finally {
    stopListening();
    screen.end();
  }
}

/** Reads the stream to its last event, resuming after the last id. Returns true if the run completed. */
async function follow(client: ApiClient, id: string, onFrame: (frame: StreamFrame) => Promise<void>): Promise<boolean> {
  let lastId: string | null = null;
  for (let failures = 0; ; ) {
    try {
      for await (const frame of client.stream(`/runs/${id}/events`, lastId, new AbortController().signal)) {
        [lastId, failures] = [frame.id || lastId, 0];
        await onFrame(frame);
        if (frame.event === "run.completed" || frame.event === "run.failed") return frame.event === "run.completed";
      }
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      if (++failures > retries) throw new CliError(`${error.message} The run ${id} goes on.`);
    }
    await Bun.sleep(pause_ms);
  }
}

interface Following {
  answers: Answers;
  screen: RunScreen;
  /** Aborts the current question. */
  asking: AbortController;
}

async function react(client: ApiClient, id: string, frame: StreamFrame, following: Following): Promise<void> {
  following.screen.show(frame);
  if (frame.event === "run.requires_action") await answer(client, id, following);
}

/** Answers the pending calls, read from the run: after a resume, the event may name calls that were answered before. */
async function answer(client: ApiClient, id: string, { answers, asking, screen }: Following): Promise<void> {
  const { required_action } = await client.get<Run>(`/runs/${id}`);
  for (const { name, url } of required_action?.authorizations ?? [])
    screen.note(`waiting until ${printable(name)} is connected${url === null ? "" : `: ${url}`}`);
  const tool_outputs: ToolAnswer[] = [];
  for (const call of required_action?.submit_tool_outputs.tool_calls ?? []) {
    const toolAnswer = await answerCall(call, answers, asking.signal).catch((error) => {
      if (asking.signal.aborted) return null;
      throw error;
    });
    if (asking.signal.aborted) return;
    if (!toolAnswer)
      throw new CliError(
        `The run ${id} waits for the tool ${printable(call.name)} (${call.tool_call_id}, needs ${call.needs}), and no terminal is there to ask at. ` +
          `--output or --decision answer beforehand.`,
      );
    tool_outputs.push(toolAnswer);
  }
  if (tool_outputs.length > 0) await client.post(`/runs/${id}/submit_tool_outputs`, { tool_outputs });
}

/** Handles Ctrl-C: the first cancels the run, whose stream then ends; the second exits at once. */
function cancelOnInterrupt(client: ApiClient, id: string, asking: AbortController, screen: RunScreen): () => void {
  const interrupt = () => {
    if (asking.signal.aborted) process.exit(exitCodes.failed);
    asking.abort();
    screen.note("cancelling …");
    client.post(`/runs/${id}/cancel`, { reason: "Ctrl-C" }).catch((error: Error) => screen.note(error.message));
  };
  process.on("SIGINT", interrupt);
  return () => process.off("SIGINT", interrupt);
}
