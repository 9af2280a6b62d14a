import type { ToolSnapshot, ToolType } from "../../domain/agent-snapshot.ts";
import { AppError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { FileFacts, ToolError } from "../../domain/run-event.ts";
import type { Scope } from "../../domain/scope.ts";
import { fault, invalid, throwIfInvalid } from "../../http/errors.ts";
import { validateAgainst } from "../../lib/json-schema.ts";
import type { Audit, Author } from "../../storage/db/audit.ts";
import type { Db } from "../../storage/db/open.ts";
import type { TestTool } from "./schema.ts";
import type { ToolStore } from "./store.ts";
import { toolKinds } from "./types/tool-kinds.ts";

/** Result of a call outside of runs. */
export type TestOutcome =
  | (({ output: unknown; error: null } | { output: null; error: ToolError }) & {
      attempts: number;
      files?: FileFacts[];
    })
  | { later: true; attempts: number };

/** Runs a tool as runs do, but outside of them. */
export type RunTool = (
  scope: Scope,
  tool: ToolSnapshot,
  args: Record<string, unknown>,
  signal: AbortSignal,
  userId: string | null,
) => Promise<TestOutcome>;

interface ToolTestOptions {
  db: Db;
  audit: Audit;
  callable: ToolStore["callable"];
  runTool: RunTool;
}

/** Calls a tool once for a client. No approval is needed, because the caller has the right to approve. */
export function createToolTest({ db, audit, callable, runTool }: ToolTestOptions) {
  return async function testCall(
    author: Author,
    id: string,
    { arguments: args, name, user_id }: TestTool,
    signal: AbortSignal,
  ) {
    const snapshot = callable(author, id, name);
    requireTestable(snapshot);
    requireFit(snapshot, args);
    // Recorded before the call, whose effects remain even if this process crashes.
    await db.write(() => audit.note(author, "tool.tested", id, { name: snapshot.name, type: snapshot.type }));
    const startTime = performance.now();
    const outcome = await runTool(author, snapshot, args, signal, user_id ?? null);
    return { ...answerOf(outcome), latency_ms: Math.round(performance.now() - startTime) };
  };
}

function requireTestable({ type }: ToolSnapshot): void {
  const { untestable } = toolKinds[type as ToolType];
  if (untestable) throw new AppError("validation_failed", untestable);
}

function requireFit({ parameters }: ToolSnapshot, args: Record<string, unknown>): void {
  if (Buffer.byteLength(JSON.stringify(args)) > limits.tool_arguments_bytes)
    throw invalid("arguments", `Must have at most ${limits.tool_arguments_bytes} bytes.`);
  const faults = validateAgainst(parameters, args).map(({ path, message }) =>
    fault(path === "" ? "arguments" : `arguments.${path}`, `${message}.`),
  );
  throwIfInvalid(faults);
}

function answerOf(outcome: TestOutcome) {
  const { attempts } = outcome;
  if ("later" in outcome) return { output: null, error: acceptedLater, attempts };
  const { output, error, files } = outcome;
  return { output, error, attempts, ...(files && { files }) };
}

const acceptedLater: ToolError = {
  code: "accepted_later",
  message: "The tool accepted the call and will answer later. Outside of a run, that answer is not received.",
};
