import type { ToolSnapshot } from "../core/agent-snapshot.ts";
import { AppError } from "../core/errors.ts";
import { nameOf, type Scope } from "../core/scope.ts";
import { timestamp } from "../core/time.ts";
import type { Db } from "../db/open.ts";
import type { Outputs } from "../files/outputs.ts";
import type { EgressPolicy } from "../lib/egress.ts";
import type { Log } from "../lib/log.ts";
import { untilAborted } from "../lib/until-aborted.ts";
import type { RunTool } from "../tools/test-call.ts";
import type { Notice, RunStart, TriedOutcome } from "../worker/messages.ts";
import { type Answerers, createAnswers } from "./answers.ts";
import type { Placed } from "./thread-choice.ts";
import { createThreadSet } from "./thread-set.ts";
import { type Thread, workerThread } from "./threads.ts";

interface Try extends Placed {
  scope: Scope;
  done(outcome: TriedOutcome): void;
  failed(error: unknown): void;
}

/**
 * Tries tools outside of any run; what they make becomes files all the same. On threads of its own, which start
 * when they are needed: what a tool answers may be long work, and the calling thread serves everybody.
 */
export function createToolTries({
  db,
  answerers,
  outputs,
  secretsOf,
  policyOf,
  log,
  now,
}: {
  db: Pick<Db, "write">;
  answerers: Answerers;
  outputs: Outputs;
  secretsOf(scope: Scope, tools: readonly ToolSnapshot[]): RunStart["secrets"];
  policyOf(environment: Scope["environment"]): EgressPolicy;
  log: Log;
  now: () => number;
}) {
  // There is no run that could wait for what a webhook says later.
  const nowhere = () => ({ url: "https://callback.invalid/", expires_at: timestamp(now()) });
  const answer = createAnswers({ ...answerers, callback: nowhere });
  const tries = new Map<number, Try>();
  const threads = createThreadSet({ threads: workerThread, most: 1, isStanding: false, log, hear, died });
  let count = 0;

  function died(dead: Thread, reason: string): () => void {
    const lost = new Error(`The thread that tries tools ended: ${reason}`);
    for (const { thread, failed } of tries.values()) if (thread === dead) failed(lost);
    return () => {};
  }

  function hear(notice: Notice, from: Thread): void {
    if (notice.do === "ask") void tell(notice, from);
    else if (notice.do === "warn") log.warn(notice.message, notice.fields);
    else if (notice.do === "tried") {
      const { drive, outcome, fault } = notice;
      if (outcome) tries.get(drive)?.done(outcome);
      else tries.get(drive)?.failed(new Error(fault ?? "A try came to nothing."));
    }
  }

  async function tell({ run_id, ticket, question }: Extract<Notice, { do: "ask" }>, to: Thread): Promise<void> {
    const asking = tries.get(Number(run_id));
    if (!asking) return to.send({ do: "refused", ticket });
    try {
      to.send({ do: "answer", ticket, answer: await answer({ ...asking.scope, ...noRun }, question) });
    } catch (error) {
      asking.failed(error);
      to.send({ do: "refused", ticket });
    }
  }

  const runTool: RunTool = async (scope, tool, args, signal) => {
    const attempt = {
      drive: ++count,
      owner: nameOf(scope),
      tool,
      args,
      secrets: secretsOf(scope, [tool]),
      egress: policyOf(scope.environment),
    };
    const { drive, owner } = attempt;
    const { promise, resolve, reject } = Promise.withResolvers<TriedOutcome>();
    const thread = threads.choose(String(drive), owner, tries.values());
    tries.set(drive, { scope, owner, thread, done: resolve, failed: reject });
    const { send } = thread;
    send({ do: "try", attempt });
    const forget = untilAborted([signal], () => send({ do: "abort", drive }));
    const outcome = await promise.finally(() => {
      forget();
      tries.delete(drive);
    });
    if ("files" in outcome && outcome.files) {
      const { files } = outcome;
      await db.write(() => outputs.insert(scope, files, { run_id: null, tool_call_id: null }));
      outputs.forget(files);
    }
    return outcome;
  };

  return {
    runTool,
    stop(): void {
      threads.stop();
      for (const each of tries.values()) each.failed(new AppError("shutting_down", "The server is stopping."));
    },
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
