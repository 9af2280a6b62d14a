import type { Elysia } from "elysia";
import { AppError } from "../domain/errors.ts";
import type { Scope } from "../domain/scope.ts";
import type { Seal } from "../lib/seal.ts";
import type { Db } from "../storage/db/open.ts";
import { invalid } from "./errors.ts";
import {
  createIdempotencyStore,
  type KeyedRequest,
  type RunAnswer,
  type SealedAnswer,
  type StoredKey,
} from "./idempotency-store.ts";
import type { Principal } from "./principal.ts";
import { withoutRequestId } from "./response.ts";

/** An in-flight request with an Idempotency-Key. */
export interface Claim {
  /** The run that the first request got; null if this is the first. */
  readonly previous: RunAnswer | null;
  /** Stores the answer. Call it inside the write that creates or changes the run, so that both commit together. */
  save(answer: RunAnswer): void;
  /** Stores the answer in a write of its own. */
  saveNow(answer: RunAnswer): Promise<void>;
  /** Returns the stored answer. */
  savedAnswer(): RunAnswer;
}

const claims = new WeakMap<Request, ActiveClaim>();

/** Returns the claim of a request with a key, for routes that return a run. */
export const claimOf = (request: Request): Claim | undefined => claims.get(request);

/** Thrown to return a stored answer. The body is JSON without `request_id`. */
export class Replay extends Error {
  constructor(
    readonly status: number,
    readonly location: string | null,
    readonly body: string,
  ) {
    super("This request was answered before.");
  }
}

/** Marks a stored answer: nothing was done for this request. */
export const replayedHeader = { "idempotent-replayed": "true" };

interface ActiveClaim extends Claim {
  name: KeyedRequest;
  /** Id of the API key or user that calls. */
  asker: string;
  /** Restrictions of the API key or client token, as JSON. */
  agent_ids: string | null;
  /** Key in `inProgress` while other requests with this key get 409; null if it was not reserved. */
  place: string | null;
}

type Handle = (request: Request) => Response | Promise<Response>;
/** The type Elysia expects; it wrongly says that a handler returns a function. */
type Around = Parameters<Elysia["wrap"]>[0];

export type Idempotency = ReturnType<typeof createIdempotency>;

/** Executes the first request with a key; repeats get the stored answer. */
export function createIdempotency({
  db,
  seal,
  onBug,
  now,
}: {
  db: Db;
  seal: Seal;
  /** Called with the error if an answer could not be stored. */
  onBug: (error: unknown, requestId: string) => void;
  now: () => number;
}) {
  const store = createIdempotencyStore({ db, now });
  // Requests in progress by `placeOf`. In memory, so that a crash leaves no key reserved.
  const inProgress = new Map<string, string>();

  /**
   * Admits the request, or throws 409 or `Replay`. Synchronous, so that of two concurrent requests exactly one is
   * first.
   */
  function begin(request: Request, principal: Principal, body: Uint8Array): void {
    const key = readKey(request.headers);
    if (key === null) return;
    const { project_id, environment } = principal;
    const name: KeyedRequest = { scope: { project_id, environment }, key, hash: hashOf(request, body) };
    const place = placeOf(name);
    const first = inProgress.get(place);
    const stored = store.find(name.scope, key);
    if ((first ?? stored?.hash ?? name.hash) !== name.hash) throw reused();
    if (first !== undefined)
      throw new AppError("idempotency_in_progress", "The first request with this key is still running.", {
        retryAfter: 1,
      });
    const agent_ids = boundsOf(principal);
    if (stored?.other) throw replayOf(name, stored.other, principal.id, agent_ids);
    // If the first request died while it waited for its run, this one takes over.
    const pendingPlace = stored?.run && stored.run.seq !== null ? null : place;
    if (pendingPlace !== null) inProgress.set(pendingPlace, name.hash);
    claims.set(request, claim(name, principal.id, agent_ids, stored, pendingPlace));
  }

  function claim(
    name: KeyedRequest,
    asker: string,
    agent_ids: string | null,
    known: StoredKey | null,
    place: string | null,
  ): ActiveClaim {
    let saved = known?.run ?? null;
    const keep = (answer: RunAnswer): void => {
      store.keepRun(name, answer);
      saved = answer;
    };
    return {
      name,
      asker,
      agent_ids,
      place,
      previous: saved,
      save: keep,
      saveNow: (answer) => db.write(() => keep(answer)),
      savedAnswer: () => saved!,
    };
  }

  function replayOf(name: KeyedRequest, answer: SealedAnswer, asker: string, agent_ids: string | null): Replay {
    // A key limited to other agents must not read an answer that it could not have got itself.
    if (answer.agent_ids !== agent_ids) throw reused();
    const { asked_by, body } = readSealed(seal.open(answer.sealed, placeOf(name)));
    // Show a secret only to the key that asked: an expiring key would get a permanent one. A rotated key counts as
    // another one, because it may expire earlier.
    if (hasSecret(body) && asked_by !== asker) throw reused();
    return new Replay(answer.status, answer.location, body);
  }

  /** Wraps every request. Requests without a key only pay for one header lookup. */
  const around: Around = (handle, request) =>
    request.method === "POST" && request.headers.has(header)
      ? (keyed: Request) => answer(handle as unknown as Handle, keyed)
      : handle;

  async function answer(handle: Handle, request: Request): Promise<Response> {
    try {
      const response = await handle(request);
      const claim = claims.get(request);
      if (!claim) return response;
      if (!claim.previous) return await keepAnswer(claim, response);
      if (response.ok) for (const [name, value] of Object.entries(replayedHeader)) response.headers.set(name, value);
      return response;
    } finally {
      const place = claims.get(request)?.place;
      if (place) inProgress.delete(place);
    }
  }

  /** Stores the answer before it is sent, so that a client that received it can always get it again. */
  async function keepAnswer({ name, asker, agent_ids }: ActiveClaim, response: Response): Promise<Response> {
    const { status, headers } = response;
    // An answer that the handler stored itself wins, even if its response failed later.
    if (!isStorable(response) || store.find(name.scope, name.key)) return response;
    const text = await response.text();
    const body = withoutRequestId(text, requestIdOf(response));
    try {
      const sealed = seal.seal(`${asker}\n${body}`, placeOf(name));
      await db.write(() => store.keepOther(name, { status, location: headers.get("location"), sealed, agent_ids }));
    } catch (error) {
      // The work is done, and an error would make the client repeat it: send the answer without storing it.
      onBug(error, requestIdOf(response));
    }
    return new Response(text, { status, headers });
  }

  /** Returns the run stored for a key. The caller must check that the client may see it. */
  const runOf = (scope: Scope, key: string): RunAnswer | null => store.find(scope, key)?.run ?? null;

  /** Returns the id of the run that an earlier request with the same key started, or null. */
  function previousRunId({ headers }: Request, scope: Scope): string | null {
    const key = readKey(headers);
    return (key !== null && runOf(scope, key)?.id) || null;
  }

  return { begin, around, runOf, previousRunId, forgetExpired: store.forgetExpired };
}

const header = "idempotency-key";

function readKey(headers: Headers): string | null {
  const key = headers.get(header);
  if (key === null || /^[\x20-\x7e]{1,255}$/.test(key)) return key;
  throw invalid("Idempotency-Key", "Must have 1 to 255 printable ASCII characters.");
}

/** Hash of method, path, query and raw body. */
function hashOf({ method, url }: Request, body: Uint8Array): string {
  const { pathname, search } = new URL(url);
  return new Bun.CryptoHasher("sha256").update(`${method} ${pathname}${search}\n`).update(body).digest("hex");
}

// The key comes last, because it may contain any character. Also the context that binds a sealed answer to its row.
const placeOf = ({ scope: { project_id, environment }, key }: KeyedRequest): string =>
  `idempotency/${project_id}/${environment}/${key}`;

/**
 * Parses a stored answer: a line with the caller's id, then the body. Answers of older versions lack the first line.
 */
function readSealed(text: string): { asked_by: string | null; body: string } {
  if (text.startsWith("{")) return { asked_by: null, body: text };
  const end = text.indexOf("\n");
  return { asked_by: text.slice(0, end), body: text.slice(end + 1) };
}

/** True if the answer holds a secret that is shown only once. */
function hasSecret(body: string): boolean {
  const fields: object = JSON.parse(body);
  return "secret" in fields || "signing_secret" in fields || "token" in fields;
}

/** False for answers that depend on the caller or the server's state instead of the request. */
export const isStorableStatus = (status: number): boolean => status < 500 && ![401, 403, 429].includes(status);

const isStorable = ({ status, headers }: Response): boolean =>
  isStorableStatus(status) && headers.get("content-type")?.startsWith("application/json") === true;

/** Restrictions under which an answer was given, as JSON; null: none. */
const boundsOf = ({ agent_ids, token }: Principal): string | null =>
  token
    ? JSON.stringify([agent_ids, token.run_id, token.thread_id, token.user_id])
    : agent_ids && JSON.stringify(agent_ids);

const requestIdOf = ({ headers }: Response): string => headers.get("x-request-id") ?? "";

const reused = () =>
  new AppError("idempotency_key_reused", "This Idempotency-Key belongs to a request with another content.");
