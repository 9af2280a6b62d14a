import { writeBeside, writeOut } from "./output.ts";
import { printable } from "./print.ts";
import type { StreamFrame } from "./read-frames.ts";

/** Shows a run: its answer on stdout, everything else on stderr. */
export type RunScreen = ReturnType<typeof createRunScreen>;

interface RunScreenOptions {
  /** Reserves stdout for the one JSON object at the end. */
  json: boolean;
  out?: (text: string) => void;
  err?: (text: string) => void;
}

export function createRunScreen({ json, out = writeOut, err = writeBeside }: RunScreenOptions) {
  let midLine = false;

  /** Prints a note on a new line, because stdout and stderr share the terminal. */
  function note(text: string): void {
    endLine();
    err(`${printable(text)}\n`);
  }
  function endLine(): void {
    if (midLine) out("\n");
    midLine = false;
  }
  function text(delta: string): void {
    if (json || delta === "") return;
    out(printable(delta));
    midLine = !delta.endsWith("\n");
  }

  function show({ event, data }: StreamFrame): void {
    if (event === "token" && data.kind === "output") text(String(data.delta));
    const line = noteOf(event, data);
    if (line !== null) note(line);
  }

  return { show, note, end: endLine };
}

/** Returns the note for an event, or null. */
function noteOf(event: string, data: StreamFrame["data"]): string | null {
  switch (event) {
    case "tool.requested":
      return `→ ${data.tool} ${JSON.stringify(data.args)}`;
    case "tool.completed":
      return `← ${data.tool} ${data.status}${milliseconds(data.latency_ms)} ${short(data.error ?? data.result)}`;
    case "step.restarted":
      return `(step ${data.step_index} starts again${data.model ? ` with ${data.model}` : ""}: what it said so far is void)`;
    case "run.recovered":
      return "(the server was restarted: the run goes on)";
    case "run.failed": {
      const error = data.error as { code?: string; message?: string } | null;
      return `${data.status}: ${error?.message ?? "no reason given"} (${error?.code})`;
    }
    default:
      return null;
  }
}

const milliseconds = (value: unknown): string => (typeof value === "number" ? ` in ${value} ms` : "");

function short(value: unknown): string {
  const text = JSON.stringify(value ?? null);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
