import { newId } from "../../domain/ids.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Log } from "../../lib/log.ts";
import type { IssuerClient } from "../../runtime/oauth/client-definition.ts";
import type { IssuerRequests } from "../../runtime/oauth/issuer-client.ts";
import { OAuthFailure } from "../../runtime/oauth/oauth-failure.ts";
import type { Db } from "../../storage/db/open.ts";
import { oauthRevocations } from "../../storage/db/schema.ts";
import { columnsOf, createReader, createScopedTable } from "../../storage/db/scoped-table.ts";
import type { OAuthSecrets, StoredTokens } from "./secrets.ts";

interface RevocationOptions {
  db: Db;
  secrets: OAuthSecrets;
  requests: Pick<IssuerRequests, "revoke">;
  log: Log;
  now: () => number;
}

export type Revocations = ReturnType<typeof createRevocations>;

// Six attempts within about three hours: an issuer that is away for longer lets its tokens expire.
const attempts_max = 6;
const pauses_ms = [10_000, 60_000, 300_000, 1_800_000, 7_200_000];
const perTurn = 8;
const timer_max_ms = 60_000;

type Row = typeof oauthRevocations.$inferSelect;

/**
 * Tokens that were erased and are still to be revoked at their issuers (RFC 7009). A row is written in the transaction
 * that erases the tokens, so that a crash loses none.
 */
export function createRevocations({ db, secrets, requests, log, now }: RevocationOptions) {
  const rows = createScopedTable(db, oauthRevocations);
  const read = createReader(oauthRevocations) as (raw: object) => Row;
  const selectDue = db.sqlite.query<object, [number, number]>(
    `SELECT ${columnsOf(oauthRevocations)} FROM oauth_revocations WHERE due_at_ms <= ? ORDER BY due_at_ms LIMIT ?`,
  );
  const selectOfProject = db.sqlite.query<object, [string, number]>(
    `SELECT ${columnsOf(oauthRevocations)} FROM oauth_revocations WHERE project_id = ? LIMIT ?`,
  );
  const selectNext = db.sqlite.query<{ at: number | null }, []>("SELECT min(due_at_ms) AS at FROM oauth_revocations");
  let timer: Timer | undefined;
  let running: Promise<void> | null = null;
  let isStopped = false;

  /** Sends one revocation. Returns false if it is to be repeated. */
  async function send(row: Row): Promise<boolean> {
    try {
      const isSent = await requests.revoke(row.environment, secrets.open("revocation", row, row.id, row.sealed));
      if (!isSent) log.info("an issuer has no address to revoke tokens", { project_id: row.project_id });
      return true;
    } catch (error) {
      if (!(error instanceof OAuthFailure)) throw error;
      if (error.retryable) return false;
      log.warn("an issuer did not revoke a token", { project_id: row.project_id, reason: error.message });
      return true;
    }
  }

  async function sendAndRecord(row: Row): Promise<void> {
    const isOver = (await send(row)) || row.attempts + 1 >= attempts_max;
    const pause = pauses_ms[Math.min(row.attempts, pauses_ms.length - 1)] ?? 0;
    await db.write(() => {
      if (isOver) rows.remove(row, row.id);
      else if (rows.get(row, row.id))
        rows.update(row, row.id, { attempts: row.attempts + 1, due_at_ms: now() + pause });
    });
  }

  async function sendDue(): Promise<void> {
    for (;;) {
      const due = selectDue.all(now(), perTurn).map(read);
      if (due.length === 0 || isStopped) return;
      const failed = (await Promise.allSettled(due.map(sendAndRecord))).find(({ status }) => status === "rejected");
      // Storage accepts no write now, or the master key has changed: the timer tries again.
      if (failed) throw (failed as PromiseRejectedResult).reason;
    }
  }

  function wake(): void {
    if (isStopped || running) return;
    clearTimeout(timer);
    running = sendDue()
      .catch((error) => log.error("tokens could not be revoked", { error }))
      .finally(() => {
        running = null;
        arm();
      });
  }

  function arm(): void {
    const at = isStopped ? null : (selectNext.get()?.at ?? null);
    if (at === null) return;
    timer = setTimeout(wake, Math.min(timer_max_ms, Math.max(1000, at - now()))).unref();
  }

  return {
    /**
     * Call inside a write, then `wake` after it. `client` is the one that got the tokens, as it was then; without an
     * address there is nothing to revoke.
     */
    add(scope: Scope, client: IssuerClient, tokens: Pick<StoredTokens, "access_token" | "refresh_token">): void {
      if (client.issuer === null && client.revocation_endpoint === null) return;
      const at = now();
      const id = newId("oauth_grant", at);
      const { refresh_token, access_token } = tokens;
      const all = [
        ...(refresh_token === null ? [] : [{ token: refresh_token, hint: "refresh_token" as const }]),
        { token: access_token, hint: "access_token" as const },
      ];
      const sealed = secrets.seal("revocation", scope, id, { client, tokens: all });
      rows.insert(scope, { id, sealed, attempts: 0, due_at_ms: at, created_at_ms: at });
    },
    /** Sends what is due, in the background. */
    wake,
    /** Tries once to send all revocations of a project that is about to be erased. */
    async ofProject(projectId: string): Promise<void> {
      for (let found = selectOfProject.all(projectId, perTurn); found.length > 0 && !isStopped; ) {
        await Promise.all(
          found.map(read).map(async (row) => {
            await send(row).catch((error) => log.warn("a token of a deleted project was not revoked", { error }));
            await db.write(() => rows.remove(row, row.id));
          }),
        );
        found = selectOfProject.all(projectId, perTurn);
      }
    },
    /** Resolves once all that is due was tried. */
    async idle(): Promise<void> {
      wake();
      await running;
    },
    async stop(): Promise<void> {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
