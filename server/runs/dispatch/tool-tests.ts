import type { ToolSnapshot } from "../../domain/agent-snapshot.ts";
import { stopping } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import { nameOf, type Scope } from "../../domain/scope.ts";
import { timestamp } from "../../domain/time.ts";
import type { EgressPolicy } from "../../lib/egress.ts";
import type { Log } from "../../lib/log.ts";
import { onAbort } from "../../lib/on-abort.ts";
import type { Outputs } from "../../resources/files/outputs.ts";
import type { AccessTokens } from "../../resources/oauth/access-tokens.ts";
import type { RunTool } from "../../resources/tools/test-call.ts";
import type { FromWorker, RunStart, TriedOutcome } from "../../runtime/agent-loop/messages.ts";
import type { Db } from "../../storage/db/open.ts";
import type { WorkerLoad } from "./worker-placement.ts";
import { createWorkerRpc, type RpcHandlers } from "./worker-rpc.ts";
import { WorkerSupervisor, type WorkerThread, workerThread } from "./worker-threads.ts";

interface ToolTest extends WorkerLoad<WorkerThread> {
  scope: Scope;
  /** The user for whom the tool is called; null: none. */
  userId: string | null;
  done(outcome: TriedOutcome): void;
  failed(error: unknown): void;
}

/**
 * Tests tools outside of runs; their files are stored. Uses its own threads, started on demand, because a tool's output
 * may take long to process and the main thread serves requests.
 */
export function createToolTests({
  db,
  answerers,
  accessToken,
  outputs,
  secretsOf,
  policyOf,
  fileOf,
  log,
  now,
}: {
  db: Db;
  answerers: RpcHandlers;
  /** Returns the token of an OAuth client for a user; null: the project's. */
  accessToken: AccessTokens["get"];
  outputs: Outputs;
  secretsOf(scope: Scope, tools: readonly ToolSnapshot[]): RunStart["secrets"];
  policyOf(environment: Scope["environment"]): EgressPolicy;
  /** Returns the file of this id, or null. */
  fileOf(scope: Scope, id: string): { file_id: string } | null;
  log: Log;
  now: () => number;
}) {
  // A test has no run that could wait for a later callback.
  const unusedCallback = () => ({ url: "https://callback.invalid/", expires_at: timestamp(now()) });
  // Its caller may name any file of the project.
  const anyFile: RpcHandlers["made_file"] = (scope, { reference }) => fileOf(scope, reference);
  const answer = createWorkerRpc({ ...answerers, callback: unusedCallback, made_file: anyFile });
  const tests = new Map<number, ToolTest>();
  const workers = new WorkerSupervisor({
    threads: workerThread,
    most: 1,
    isStanding: false,
    hasWork: () => tests.size > 0,
    log,
    onMessage,
    onExit,
  });
  let count = 0;

  function onExit(exitedThread: WorkerThread, reason: string): () => void {
    const lost = new Error(`The thread that tests tools ended: ${reason}`);
    for (const { thread, failed } of tests.values()) if (thread === exitedThread) failed(lost);
    return () => {};
  }

  function onMessage(message: FromWorker, from: WorkerThread): void {
    if (message.do === "ask") void answerQuestion(message, from);
    else if (message.do === "log") log[message.level](message.message, message.fields);
    else if (message.do === "tried") {
      const { drive, outcome, fault } = message;
      if (outcome) tests.get(drive)?.done(outcome);
      else tests.get(drive)?.failed(new Error(fault ?? "A tool test ended without an outcome."));
    }
  }

  async function answerQuestion(
    { run_id, ticket, question }: Extract<FromWorker, { do: "ask" }>,
    to: WorkerThread,
  ): Promise<void> {
    const asking = tests.get(Number(run_id));
    if (!asking) return to.send({ do: "refused", ticket });
    try {
      const { scope, userId } = asking;
      const reply =
        question.of === "access_token"
          ? accessToken(scope, question.oauth_client_id, userId, question.rejected, question.missing)
          : answer({ ...scope, ...noRun }, question);
      to.send({ do: "answer", ticket, answer: await reply });
    } catch (error) {
      asking.failed(error);
      to.send({ do: "refused", ticket });
    }
  }

  const runTool: RunTool = async (scope, tool, args, signal, userId) => {
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
    const thread = workers.choose(String(drive), owner, tests.values());
    tests.set(drive, { scope, userId, owner, thread, done: resolve, failed: reject });
    const { send } = thread;
    send({ do: "try", attempt });
    const forget = onAbort([signal], () => send({ do: "abort", drive }));
    const outcome = await promise.finally(() => {
      forget();
      tests.delete(drive);
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
      workers.stop();
      for (const each of tests.values()) each.failed(new AppError("shutting_down", stopping));
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
