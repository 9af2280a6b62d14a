import type { Frame } from "../../lib/events.ts";

/** One line of the event list. Consecutive tokens share a line. */
interface StreamLine {
  key: string;
  /** Milliseconds since the first event. */
  ms: number;
  event: string;
  /** The step type, which selects the icon. */
  step: string;
  detail: string;
}

/** Returns the events as lines, in the order of arrival. */
export function streamLines(frames: readonly Frame[]): StreamLine[] {
  const lines: (StreamLine & { tokens: number })[] = [];
  const start = Date.parse(frames[0]?.data.at ?? "");
  for (const { event, data } of frames) {
    const last = lines.at(-1);
    if (event === "token" && last?.event === "token") {
      last.detail = `× ${++last.tokens}`;
      continue;
    }
    const ms = Math.max(0, Date.parse(data.at) - start);
    const detail = event === "token" ? "× 1" : detailOf(data);
    lines.push({ key: `${event} ${data.seq}`, ms, event, step: stepOf(event, data), detail, tokens: 1 });
  }
  return lines;
}

function detailOf({ tool, name, type }: Record<string, unknown>): string {
  return [tool, name, type].find((each) => typeof each === "string") ?? "";
}

function stepOf(event: string, { type }: Record<string, unknown>): string {
  if (event === "token") return "model_call";
  if (event.startsWith("tool.")) return "tool_call";
  return event.startsWith("step.") && typeof type === "string" ? type : "run";
}
