import type { ToolSnapshot } from "../core/agent-snapshot.ts";
import { nameOf, type Scope } from "../core/scope.ts";
import { timestamp } from "../core/time.ts";
import type { Db } from "../db/open.ts";
import type { Outputs } from "../files/outputs.ts";
import type { EgressPolicy } from "../lib/egress.ts";
import type { RunTool } from "../tools/test-call.ts";
import type { Ask, Question, RunStart } from "../worker/messages.ts";
import { createTools, type Warn } from "../worker/reach.ts";
import { tryTool } from "../worker/tool-bench.ts";
import { type Answerers, createAnswers } from "./answers.ts";

/** Tries tools on this thread and outside of any run; what they make becomes files all the same. */
export function createBench({
  db,
  answerers,
  outputs,
  secretsOf,
  policyOf,
  warn,
  now,
}: {
  db: Pick<Db, "write">;
  answerers: Answerers;
  outputs: Outputs;
  secretsOf(scope: Scope, tools: readonly ToolSnapshot[]): RunStart["secrets"];
  policyOf(environment: Scope["environment"]): EgressPolicy;
  warn: Warn;
  now: () => number;
}): RunTool {
  const tools = createTools(now, warn);
  // There is no run that could wait for what a webhook says later.
  const nowhere = () => ({ url: "https://callback.invalid/", expires_at: timestamp(now()) });

  return async (scope, tool, args, signal) => {
    const answer = createAnswers({ ...answerers, callback: nowhere });
    const head = { ...scope, ...noRun } as const;
    const ask: Ask = async (of, question) => (await answer(head, { of, ...question } as Question)) as never;
    const start = { owner: nameOf(scope), secrets: secretsOf(scope, [tool]), egress: policyOf(scope.environment) };
    const outcome = await tryTool(tools, start, ask, tool, args, signal);
    if ("files" in outcome && outcome.files) {
      const { files } = outcome;
      await db.write(() => outputs.insert(scope, files, { run_id: null, tool_call_id: null }));
      outputs.forget(files);
    }
    return outcome;
  };
}

const noRun = {
  run_id: "none",
  status: "in_progress",
  seq: 0,
  attempt: 1,
  parent_run_id: null,
  depth: 0,
  root_run_id: "none",
} as const;
