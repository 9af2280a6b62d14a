import type { Decision, Needs } from "../../domain/run-event.ts";
import { jsonOrText } from "../../lib/json.ts";
import { ask, canAsk } from "./ask.ts";
import { usageError } from "./exit-code.ts";
import { printable } from "./print.ts";

/** A tool call that waits for the client. */
export interface PendingCall {
  tool_call_id: string;
  name: string;
  arguments: unknown;
  needs: Needs;
}

export type ToolAnswer = { tool_call_id: string } & ({ output: unknown } | { decision: Decision });

/** Prepared answers, by tool name or call id. */
export interface Answers {
  outputs: ReadonlyMap<string, unknown>;
  decisions: ReadonlyMap<string, Decision>;
}

/** Reads `--output name=json` and `--decision name=approve`. Text that is not JSON is taken as a string. */
export function readAnswers(outputs: readonly string[] = [], decisions: readonly string[] = []): Answers {
  return {
    outputs: new Map(outputs.map((text) => pair("--output", text)).map(([name, value]) => [name, jsonOrText(value)])),
    decisions: new Map(
      decisions
        .map((text) => pair("--decision", text))
        .map(([name, value]) => {
          if (value !== "approve" && value !== "reject")
            throw usageError(`--decision takes approve or reject, not "${value}".`);
          return [name, value];
        }),
    ),
  };
}

function pair(flag: string, text: string): [name: string, value: string] {
  const at = text.indexOf("=");
  if (at < 1) throw usageError(`${flag} takes a tool's name, = and a value, not "${text}".`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Returns the prepared answer to a call, or asks the person at the terminal; null if there is neither. */
export async function answerCall(call: PendingCall, answers: Answers, signal: AbortSignal): Promise<ToolAnswer | null> {
  const prepared = preparedAnswer(call, answers);
  if (prepared || !canAsk()) return prepared;
  const { tool_call_id } = call;
  const what = printable(`${call.name} ${JSON.stringify(call.arguments)}`);
  if (call.needs === "output")
    return { tool_call_id, output: jsonOrText(await ask(`? ${what}\n  output (JSON or text): `, signal)) };
  if (call.needs === "approval") {
    const reply = await ask(`? ${what}\n  approve? [y/N] `, signal);
    return { tool_call_id, decision: /^y(es)?$/i.test(reply.trim()) ? "approve" : "reject" };
  }
  const said = await ask(
    `? It is unknown whether this happened: ${what}\n  [r]un it again, [n]o it did not, or its output: `,
    signal,
  );
  if (/^r$/i.test(said.trim())) return { tool_call_id, decision: "approve" };
  if (/^n?$/i.test(said.trim())) return { tool_call_id, decision: "reject" };
  return { tool_call_id, output: jsonOrText(said) };
}

function preparedAnswer(
  { tool_call_id, name, needs }: PendingCall,
  { outputs, decisions }: Answers,
): ToolAnswer | null {
  const key = [tool_call_id, name].find((each) => (needs === "approval" ? false : outputs.has(each)));
  if (key !== undefined) return { tool_call_id, output: outputs.get(key) };
  const decision = needs === "output" ? undefined : (decisions.get(tool_call_id) ?? decisions.get(name));
  return decision ? { tool_call_id, decision } : null;
}
