import type { Elysia } from "elysia";
import { AppError } from "../core/errors.ts";
import type { Scope } from "../core/scope.ts";
import type { Db } from "../db/open.ts";
import type { Seal } from "../lib/seal.ts";
import { invalid } from "./errors.ts";
import {
  createIdempotencyStore,
  type Known,
  type Name,
  type RunAnswer,
  type SealedAnswer,
} from "./idempotency-store.ts";
import type { Principal } from "./principal.ts";
import { withoutRequestId } from "./response.ts";

/** A request with an `Idempotency-Key` on its way. */
export interface Claim {
  /** The run that the first request was answered with; null while this is the first. */
  readonly earlier: RunAnswer | null;
  /** Within the write that makes the answer true: the answer is this run, as it stands there. */
  keep(answer: RunAnswer): void;
  /** The same in a write of its own. */
  keepNow(answer: RunAnswer): Promise<void>;
  /** What was kept, now or earlier. */
  kept(): RunAnswer;
}

const claims = new WeakMap<Request, Held>();

/** The claim of a request that has a key, for routes that answer with a run. */
export const claimOf = (request: Request): Claim | undefined => claims.get(request);

/** Thrown where an earlier answer is the answer: the edge sends it. The body is JSON without `request_id`. */
export class Replay extends Error {
  constructor(
    readonly status: number,
    readonly location: string | null,
    readonly body: string,
  ) {
    super("This request was answered before.");
  }
}

/** Says that nothing was done for this answer. */
export const replayedHeader = { "idempotent-replayed": "true" };

interface Held extends Claim {
  name: Name;
  /** Who asks. */
  asker: string;
  /** What the API key or client token is bound to, as JSON. */
  agent_ids: string | null;
  /** Set while others with this key are turned away. */
  place: string | null;
}

type Handle = (request: Request) => Response | Promise<Response>;
/** What the framework takes; by its types a handler would answer with a function. */
type Around = Parameters<Elysia["wrap"]>[0];

export type Idempotency = ReturnType<typeof createIdempotency>;

/** The first request with a key is carried out; the same again gets its answer (contract, section 12). */
export function createIdempotency({
  db,
  seal,
  onBug,
  now,
}: {
  db: Db;
  seal: Seal;
  /** Told why an answer could not be kept, and of which request. */
  onBug: (error: unknown, requestId: string) => void;
  now: () => number;
}) {
  const store = createIdempotencyStore({ db, now });
  // Requests on their way, by place: in memory, so that a crash leaves no key taken.
  const onTheWay = new Map<string, string>();

  /** Admits the request, or throws 409 or the `Replay`. Synchronous: of two at once, one is the first. */
  function begin(request: Request, principal: Principal, body: Uint8Array): void {
    const key = readKey(request.headers);
    if (key === null) return;
    const { project_id, environment } = principal;
    const name: Name = { scope: { project_id, environment }, key, hash: hashOf(request, body) };
    const place = placeOf(name);
    const first = onTheWay.get(place);
    const known = store.find(name.scope, key);
    if ((first ?? known?.hash ?? name.hash) !== name.hash) throw reused();
    if (first !== undefined)
      throw new AppError("idempotency_in_progress", "The first request with this key is still running.", {
        retryAfter: 1,
      });
    const agent_ids = boundsOf(principal);
    if (known?.other) throw replayOf(name, known.other, principal.id, agent_ids);
    // A first request that died while it waited for its run is taken over by this one.
    const held = known?.run && known.run.seq !== null ? null : place;
    if (held !== null) onTheWay.set(held, name.hash);
    claims.set(request, claim(name, principal.id, agent_ids, known, held));
  }

  function claim(name: Name, asker: string, agent_ids: string | null, known: Known | null, place: string | null): Held {
    let kept = known?.run ?? null;
    const keep = (answer: RunAnswer): void => {
      store.keepRun(name, answer);
      kept = answer;
    };
    return {
      name,
      asker,
      agent_ids,
      place,
      earlier: kept,
      keep,
      keepNow: (answer) => db.write(() => keep(answer)),
      kept: () => kept!,
    };
  }

  function replayOf(name: Name, answer: SealedAnswer, asker: string, agent_ids: string | null): Replay {
    // A key bound to other agents may not read here what it could not have been answered.
    if (answer.agent_ids !== agent_ids) throw reused();
    const { asked_by, body } = readSealed(seal.open(answer.sealed, placeOf(name)));
    // A key that ends in a minute would have the secret of one that never does; not its successor either, which may last
    // shorter than the key that asked.
    if (holdsSecret(body) && asked_by !== asker) throw reused();
    return new Replay(answer.status, answer.location, body);
  }

  /** Stands around every request and costs those without a key one look at their headers. */
  const around: Around = (handle, request) =>
    request.method === "POST" && request.headers.has(header)
      ? (keyed: Request) => answer(handle as unknown as Handle, keyed)
      : handle;

  async function answer(handle: Handle, request: Request): Promise<Response> {
    try {
      const response = await handle(request);
      const claim = claims.get(request);
      if (!claim) return response;
      if (!claim.earlier) return await keepAnswer(claim, response);
      if (response.ok) for (const [name, value] of Object.entries(replayedHeader)) response.headers.set(name, value);
      return response;
    } finally {
      const place = claims.get(request)?.place;
      if (place) onTheWay.delete(place);
    }
  }

  /** Keeps what was answered before it is sent: whoever has the answer can have it again. */
  async function keepAnswer({ name, asker, agent_ids }: Held, response: Response): Promise<Response> {
    const { status, headers } = response;
    // What the handler kept itself stands, also where its answer failed afterwards.
    if (!isKept(response) || store.find(name.scope, name.key)) return response;
    const text = await response.text();
    const body = withoutRequestId(text, requestIdOf(response));
    try {
      const sealed = seal.seal(`${asker}\n${body}`, placeOf(name));
      await db.write(() => store.keepOther(name, { status, location: headers.get("location"), sealed, agent_ids }));
    } catch (error) {
      // What was done was done, and saying otherwise would have it done twice: the answer goes out and is not kept.
      onBug(error, requestIdOf(response));
    }
    return new Response(text, { status, headers });
  }

  /** The run that a request with this key was answered with. Whether it is the asker's is for the caller to ask. */
  const runOf = (scope: Scope, key: string): RunAnswer | null => store.find(scope, key)?.run ?? null;

  /** The id of the run that a request with its key has made; null where there is none. */
  function madeBefore({ headers }: Request, scope: Scope): string | null {
    const key = readKey(headers);
    return (key !== null && runOf(scope, key)?.id) || null;
  }

  return { begin, around, runOf, madeBefore, forgetExpired: store.forgetExpired };
}

const header = "idempotency-key";

function readKey(headers: Headers): string | null {
  const key = headers.get(header);
  if (key === null || /^[\x20-\x7e]{1,255}$/.test(key)) return key;
  throw invalid("Idempotency-Key", "Expected 1 to 255 printable ASCII characters.");
}

/** Of the method, the path with its query, and the body as it came, byte for byte. */
function hashOf({ method, url }: Request, body: Uint8Array): string {
  const { pathname, search } = new URL(url);
  return new Bun.CryptoHasher("sha256").update(`${method} ${pathname}${search}\n`).update(body).digest("hex");
}

// The key comes last, since it may hold anything. Also what binds a sealed answer to its row.
const placeOf = ({ scope: { project_id, environment }, key }: Name): string =>
  `idempotency/${project_id}/${environment}/${key}`;

/** Who asked stands in a line before the body; not in what an older version kept, which begins with the body. */
function readSealed(text: string): { asked_by: string | null; body: string } {
  if (text.startsWith("{")) return { asked_by: null, body: text };
  const end = text.indexOf("\n");
  return { asked_by: text.slice(0, end), body: text.slice(end + 1) };
}

/** Whether an answer shows what is shown once: an API key's secret, or what a tool's calls are signed with. */
function holdsSecret(body: string): boolean {
  const fields: object = JSON.parse(body);
  return "secret" in fields || "signing_secret" in fields || "token" in fields;
}

/** Answers that say nothing of the request itself, but of who asked or of the server's state, are not kept. */
export const isKeptStatus = (status: number): boolean => status < 500 && ![401, 403, 429].includes(status);

const isKept = ({ status, headers }: Response): boolean =>
  isKeptStatus(status) && headers.get("content-type")?.startsWith("application/json") === true;

/** What an answer was limited to, as JSON; null: nothing. Of a client token, what it is bound to beside its agent. */
const boundsOf = ({ agent_ids, token }: Principal): string | null =>
  token
    ? JSON.stringify([agent_ids, token.run_id, token.thread_id, token.user_id])
    : agent_ids && JSON.stringify(agent_ids);

const requestIdOf = ({ headers }: Response): string => headers.get("x-request-id") ?? "";

const reused = () =>
  new AppError("idempotency_key_reused", "This Idempotency-Key belongs to a request with another content.");
