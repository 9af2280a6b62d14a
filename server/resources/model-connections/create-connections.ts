import type { Egress } from "../../lib/egress.ts";
import type { Log } from "../../lib/log.ts";
import { createIssuerRequests } from "../../runtime/oauth/issuer-client.ts";
import { createIssuerMetadata } from "../../runtime/oauth/issuer-metadata.ts";
import { type ConnectionConsents, createConnectionConsents } from "./connection-consents.ts";
import { createConnectionGrants } from "./connection-grants.ts";
import { createConnectionRevocations } from "./connection-revocations.ts";
import { createConnectionTokens } from "./connection-tokens.ts";
import { type ConnectionStore, createConnectionStore } from "./store.ts";

type StoreOptions = Parameters<typeof createConnectionStore>[0];

interface ConnectionsOptions extends Omit<StoreOptions, "tokens" | "grants"> {
  egress: Egress;
  log: Log;
  now: () => number;
  /** Ends requests for tokens of clients. */
  signal?: AbortSignal;
  /** False if the connections are copies of those of another cell. */
  mayRefresh?: boolean;
}

/** Creates the connections with their tokens; every address of an authorization server goes through the guard. */
export function createConnections({ egress, log, signal, mayRefresh = true, ...base }: ConnectionsOptions) {
  const { db, audit, seal, now } = base;
  const metadataOf = createIssuerMetadata({ now });
  // The guard lets plain HTTP through only where the operator allowed the host.
  const access = { egress, httpsOnly: false };
  const requests = createIssuerRequests({ accessOf: () => ({ ...access, ...(signal && { signal }) }), metadataOf });
  // A server that stops does not end these: it waits a while for the answers of issuers that rotate refresh tokens.
  const lasting = createIssuerRequests({ accessOf: () => access, metadataOf });
  const grants = createConnectionGrants({ db, seal, now });
  const revocations = createConnectionRevocations({ db, grants, requests, log });
  const consents: ConnectionConsents = createConnectionConsents({
    db,
    audit,
    grants,
    requests: lasting,
    clientOf: (name) => store.clientOf(name),
    mayRefresh,
    log,
    now,
    onRevoked: revocations.wake,
  });
  const tokens = createConnectionTokens({ requests, consents, now });
  const store: ConnectionStore = createConnectionStore({ ...base, grants, tokens, onRevoked: revocations.wake });
  return { store, consents, revocations };
}
