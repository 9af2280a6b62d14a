import { timingSafeEqual } from "node:crypto";
import { AppError } from "../../domain/errors.ts";
import { notFound, throwNotFound } from "../../domain/not-found.ts";
import type { CallAuthorization, JournalEntry } from "../../domain/run-event.ts";
import { isOver } from "../../domain/run-state.ts";
import type { Scope } from "../../domain/scope.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { Log } from "../../lib/log.ts";
import { createPoll, type Poll } from "../../lib/poll.ts";
import type { AccessTokens } from "../../resources/oauth/access-tokens.ts";
import type { Db } from "../../storage/db/open.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import type { RunSubscriptions } from "../stream/run-subscriptions.ts";
import { waitingCalls } from "./authorize-calls.ts";
import type { ConsentLinks } from "./consent-links.ts";

interface Deps {
  db: Db;
  journal: Journal;
  watches: RunSubscriptions;
  accessTokens: AccessTokens;
  links: ConsentLinks;
  /** See `createCallAuthorization`. */
  allow(runId: string, isMeant: (authorization: CallAuthorization) => boolean): Promise<void>;
  deny(runId: string, isMeant: (authorization: CallAuthorization) => boolean, reason: string): Promise<void>;
  log: Log;
  /** Milliseconds between looks at all that wait. */
  look_ms?: number;
}

/** Looks that one look replaces while no run is known to wait: it finds what another process brought. */
const idleLooks = 6;

export type Consents = ReturnType<typeof createConsents>;

/** A group of calls that one consent lets go on. */
interface Awaited extends Scope {
  run_id: string;
  oauth_client_id: string;
  user_id: string | null;
}

/** A consent for which a person was sent here. */
export interface Asked extends Scope {
  oauthClientId: string;
  /** Null: for the project. */
  userId: string | null;
  /** The run that waits for it, or the stored request of a program. */
  of: { runId: string } | { state: string };
}

/**
 * Sends users to the authorization servers that their runs wait for, and lets these runs go on. Waiting
 * runs are in the database, so that a consent counts at the next start if the process died before a run went on.
 */
export function createConsents({
  db,
  journal,
  watches,
  accessTokens,
  links,
  allow,
  deny,
  log,
  look_ms = 10_000,
}: Deps) {
  const fields = `run_id, project_id, environment, call ->> '$.authorization.oauth_client_id' AS oauth_client_id,
    call ->> '$.authorization.user_id' AS user_id`;
  const selectAwaited = db.sqlite.query<Awaited, []>(
    `SELECT DISTINCT ${fields} FROM pending_calls WHERE needs = 'authorization' ORDER BY run_id`,
  );
  const selectAwaiting = db.sqlite.query<Awaited, [string, string, string, string | null]>(
    `SELECT DISTINCT ${fields} FROM pending_calls WHERE needs = 'authorization' AND project_id = ? AND environment = ?
       AND oauth_client_id = ? AND user_id IS ? ORDER BY run_id`,
  );
  /** Calls that went on because there was a token, without a new consent: once only, or a token that is no use would be tried for ever. */
  const tried = new Set<string>();

  /**
   * Returns what an address asks for, and begins nothing. Throws 404 for one that this server did not make or whose
   * request is over, and `run_not_awaiting_action` if its run does not wait any more.
   */
  function open(token: string): Asked {
    const [runId = "", oauthClientId = "", proofText] = token.split(".");
    if (proofText === undefined) return requestOf(token);
    const expected = Buffer.from(links.proof(runId, oauthClientId));
    const actual = Buffer.from(proofText);
    if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) throw notFound();
    const { project_id, environment, status, user_id } = journal.head(runId) ?? throwNotFound();
    const calls = status === "requires_action" || status === "paused" ? waitingCalls(journal.state(runId)) : [];
    const call = calls.find(({ authorization }) => authorization.oauth_client_id === oauthClientId);
    if (!call) throw new AppError("run_not_awaiting_action", "The run does not wait for this consent any more.");
    // The user of the run itself, and never one that is named elsewhere.
    const userId = call.authorization.user_id === null ? null : user_id;
    return { project_id, environment, oauthClientId, userId, of: { runId } };
  }

  function requestOf(state: string): Asked {
    const { scope, oauthClientId, userId } = accessTokens.requested(state) ?? throwNotFound();
    return { ...scope, oauthClientId, userId, of: { state } };
  }

  /** Begins a consent in the browser with this cookie, and returns the address of the authorization server. */
  async function begin(asked: Asked, browser: string): Promise<string> {
    const { oauthClientId, userId, of } = asked;
    const { state } = "state" in of ? of : await accessTokens.authorize(asked, oauthClientId, { userId, ...of });
    return (await accessTokens.send(state, browser)) ?? throwNotFound();
  }

  const keyOf = ({ run_id, oauth_client_id }: Awaited): string => `${run_id} ${oauth_client_id}`;
  const isOf =
    ({ oauth_client_id, user_id }: Pick<Awaited, "oauth_client_id" | "user_id">) =>
    (authorization: CallAuthorization): boolean =>
      authorization.oauth_client_id === oauth_client_id && authorization.user_id === user_id;

  /** Returns false if the storage took no write now: the next look tries again. */
  async function goOn(awaited: Awaited): Promise<boolean> {
    const { run_id } = awaited;
    try {
      await allow(run_id, isOf(awaited));
      return true;
    } catch (error) {
      log.error("a run could not go on after its user's consent", { run_id, error });
      return false;
    }
  }

  /** Lets a run go on if there is a token by now, or if there will never be one. */
  async function look(awaited: Awaited): Promise<void> {
    const { oauth_client_id, user_id } = awaited;
    const key = keyOf(awaited);
    if (tried.has(key)) return;
    const token = await accessTokens.get(awaited, oauth_client_id, user_id);
    if (token.status === "authorization_required" || (token.status === "failed" && token.retryable)) return;
    tried.add(key);
    if (!(await goOn(awaited))) tried.delete(key);
  }

  let isStopped = false;
  let poll: Poll | undefined;
  async function lookAtAll(): Promise<void> {
    // The database may be closed while this waits for its first turn, or for a token.
    if (isStopped) return;
    for (const key of tried) {
      const run = journal.head(key.split(" ", 1)[0] ?? "");
      if (!run || isOver(run.status)) tried.delete(key);
    }
    const waiting = selectAwaited.all();
    if (waiting.length + tried.size > 0) poll?.wake();
    for (const awaited of waiting) {
      if (isStopped) return;
      await look(awaited).catch(failed(awaited));
    }
  }

  const failed =
    ({ run_id }: Awaited) =>
    (error: unknown) =>
      log.error("the consent that a run waits for could not be looked up", { run_id, error });

  /** A consent may come while the call that lacks it is being recorded. */
  const onCommit = (runId: string, entries: readonly JournalEntry[]): void => {
    const last = entries.findLast(({ event }) => event.type === "run.requires_action");
    const head = last && journal.head(runId);
    if (last?.event.type !== "run.requires_action" || !head) return;
    for (const call of last.event.required_action.submit_tool_outputs.tool_calls) {
      if (!call.authorization || call.run_id !== undefined) continue;
      const { project_id, environment } = head;
      const awaited = { run_id: runId, project_id, environment, ...call.authorization };
      void look(awaited).catch(failed(awaited));
      poll?.wake();
    }
  };
  const unlisten = watches.listen(onCommit);

  accessTokens.onGranted(({ scope, oauthClientId, userId }) => {
    failpoint?.("after_consent");
    for (const awaited of selectAwaiting.all(scope.project_id, scope.environment, oauthClientId, userId)) {
      // If the storage takes no write now, the next look tries again, with the new token.
      tried.delete(keyOf(awaited));
      void goOn(awaited);
    }
  });
  accessTokens.onDenied(({ scope, oauthClientId, runId, reason }) => {
    const head = runId === null ? null : journal.head(runId);
    // The user refused at this run's request; other runs still wait.
    if (head?.project_id !== scope.project_id || head.environment !== scope.environment) return;
    deny(head.run_id, ({ oauth_client_id }) => oauth_client_id === oauthClientId, reason).catch((error) =>
      log.error("a run could not be told that its user refused", { run_id: head.run_id, error }),
    );
  });

  return {
    /** Runs and clients that were let go on without a new consent. */
    tried: tried as ReadonlySet<string>,
    open,
    begin,
    /** Returns the client of a consent as its user sees it; null: it was deleted. */
    shown: (asked: Asked) => accessTokens.shown(asked, asked.oauthClientId),
    /** Looks at all runs that wait: at start, after a project arrived, and now and then. */
    look: lookAtAll,
    start(): void {
      void lookAtAll();
      poll = createPoll({ every_ms: look_ms, idle_ms: idleLooks * look_ms, look: () => lookAtAll().then(() => false) });
    },
    stop(): void {
      isStopped = true;
      unlisten();
      poll?.stop();
    },
  };
}
