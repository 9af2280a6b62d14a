import type { Log } from "../../lib/log.ts";
import type { IssuerRequests } from "../../runtime/oauth/issuer-client.ts";
import { OAuthFailure } from "../../runtime/oauth/oauth-failure.ts";
import type { Db } from "../../storage/db/open.ts";
import type { ConnectionGrants } from "./connection-grants.ts";

interface RevocationOptions {
  db: Db;
  grants: Pick<ConnectionGrants, "dueRevocations" | "endRevocation" | "postponeRevocation">;
  requests: Pick<IssuerRequests, "revoke">;
  log: Log;
}

// Six attempts within about three hours: an issuer that is away for longer lets its tokens expire.
const pauses_ms = [10_000, 60_000, 300_000, 1_800_000, 7_200_000];

/**
 * Revokes tokens that were erased (RFC 7009). Each is a row that is written in the transaction that erases them, so that
 * a crash loses none.
 */
export function createConnectionRevocations({ db, grants, requests, log }: RevocationOptions) {
  let running: Promise<void> | null = null;
  let isStopped = false;

  type Due = ReturnType<typeof grants.dueRevocations>[number];

  /** Sends one revocation. Returns false if it is to be repeated. */
  async function send({ order }: Due): Promise<boolean> {
    try {
      if (!(await requests.revoke("live", order))) log.info("an issuer has no address to revoke tokens");
      return true;
    } catch (error) {
      if (!(error instanceof OAuthFailure)) throw error;
      if (!error.retryable) log.warn("an issuer did not revoke a token", { reason: error.message });
      return !error.retryable;
    }
  }

  async function sendDue(): Promise<void> {
    for (;;) {
      const due = grants.dueRevocations();
      if (due.length === 0 || isStopped) return;
      for (const each of due) {
        const pause_ms = pauses_ms[each.attempts];
        const isOver = (await send(each)) || pause_ms === undefined;
        await db.write(() =>
          isOver ? grants.endRevocation(each.id) : grants.postponeRevocation(each.id, each.attempts + 1, pause_ms),
        );
      }
    }
  }

  function wake(): void {
    if (isStopped) return;
    running ??= sendDue()
      .catch((error) => log.error("tokens of connections could not be revoked", { error }))
      .finally(() => {
        running = null;
      });
  }

  return {
    /** Sends what is due, in the background. */
    wake,
    /** Resolves once all that is due was tried. */
    async idle(): Promise<void> {
      wake();
      await running;
    },
    async stop(): Promise<void> {
      isStopped = true;
      await running;
    },
  };
}
