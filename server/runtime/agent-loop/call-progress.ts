import type { RunEvent, ToolProgress } from "../../domain/run-event.ts";

/** Word of an MCP server about a call that is under way. */
export type CallProgress = Omit<ToolProgress, "tool_call_id" | "step_index">;

type Kind = "progress" | "log";

/** Tells the newest of a kind. It is read only if it is journaled, because to hide secrets in a flood takes time. */
export type TellProgress = (kind: Kind, read: () => CallProgress) => void;

const limits = { interval_ms: 1000, most: 200 };
// A call that takes long is journaled more rarely: 15 times until its age has doubled two or three times.
const intervalsPerAge = 15;

interface Options {
  call: { id: string; step_index: number };
  /** Number of the call's earlier events, also of an earlier process. */
  count: number;
  record(events: RunEvent[]): Promise<unknown>;
  now?: () => number;
  /** Calls back after this time, unless the returned function is called before. */
  later?: (work: () => void, ms: number) => () => void;
}

/**
 * Journals what a server says about a call: the first at once, then at most one event of each kind a second, the newest,
 * and 200 in total. A server that floods costs no more than that.
 */
export function createCallProgress({
  call,
  count,
  record,
  now = performance.now.bind(performance),
  later = after,
}: Options) {
  const begunAt = now();
  const waiting = new Map<Kind, () => CallProgress>();
  let left = limits.most - count;
  let nextAt = 0;
  let cancel: (() => void) | null = null;
  let isStopped = false;
  let writing: Promise<unknown> = Promise.resolve();

  function schedule(): void {
    if (isStopped || cancel || waiting.size === 0) return;
    const wait_ms = nextAt - now();
    if (wait_ms <= 0) write();
    else
      cancel = later(() => {
        cancel = null;
        write();
      }, wait_ms);
  }

  function write(): void {
    if (isStopped) return;
    const said = [...waiting.values()].slice(0, left).map((read) => read());
    waiting.clear();
    left -= said.length;
    if (said.length === 0) return;
    nextAt = now() + Math.max(limits.interval_ms, (now() - begunAt) / intervalsPerAge);
    const { id: tool_call_id, step_index } = call;
    // If the run has ended or moved on, the call learns it by its own record.
    writing = record(said.map((each) => ({ type: "tool.progress", tool_call_id, step_index, ...each }))).catch(
      () => {},
    );
  }

  return {
    tell(kind, read) {
      if (isStopped || left <= 0) return;
      waiting.set(kind, read);
      schedule();
    },
    /** Ends it; resolves when nothing more is written, so that the call's result is its last event. */
    async stop() {
      isStopped = true;
      cancel?.();
      await writing;
    },
  } satisfies { tell: TellProgress; stop(): Promise<void> };
}

function after(work: () => void, ms: number): () => void {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
}
