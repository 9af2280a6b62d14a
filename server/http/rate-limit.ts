import { defaultLimits, type ProjectLimits } from "../core/project-settings.ts";
import type { Scope } from "../core/scope.ts";

export type RateLimits = Omit<ProjectLimits, "runs_in_progress">;
export type Bucket = keyof RateLimits;

/** The kinds of request that are counted, each for itself. */
export const buckets: readonly Bucket[] = ["reads_per_minute", "run_creations_per_minute", "writes_per_minute"];

/** What is counted beside projects, each kind apart: nobody makes those of another kind forgotten. */
export type Counted = "page" | "visitor" | "token" | "address";

/** What is not counted by the minute, and what of it an earlier process has accepted. */
export interface Span {
  span_ms?: number;
  before?: (span_ms: number) => number[];
}

/** Failed authentications per minute that one address gets an ordinary answer for. */
const failuresPerMinute = 60;
const maxWindows = 10_000;
const windowMs = 60_000;

/** Where a bucket stands after a request. A limit that is off has none. */
export interface Standing {
  accepted: boolean;
  limit: number;
  remaining: number;
  /** Unix seconds when the bucket is full again. */
  reset: number;
  /** Seconds after which a refused request is accepted; 0 when this one was. */
  retryAfter: number;
}

/** Counts requests, exactly: in no 60 seconds are more than the limit accepted, whatever their rhythm. */
export type RateLimiter = ReturnType<typeof createRateLimiter>;

export function createRateLimiter({ now = steadyNow }: { now?: () => number } = {}) {
  const scopes = new Map<string, Map<Bucket, Window>>();
  const addresses = new Map<string, Window>();
  const counted: Record<Counted, Map<string, Window>> = {
    page: new Map(),
    visitor: new Map(),
    token: new Map(),
    address: new Map(),
  };
  const unused = createWindow();

  function windowOf({ project_id, environment }: Scope, bucket: Bucket, page = ""): Window {
    const key = `${project_id}/${environment}/${page}`;
    const windows = scopes.get(key) ?? new Map<Bucket, Window>();
    if (windows.size === 0) scopes.set(key, windows);
    const window = windows.get(bucket) ?? createWindow();
    windows.set(bucket, window);
    return window;
  }

  // Whoever owns a /48 has more addresses than we have memory: the one that was used longest ago is forgotten.
  function boundedWindow(
    windows: Map<string, Window>,
    name: string,
    max = maxWindows,
    make = () => createWindow(),
  ): Window {
    const known = windows.get(name);
    if (known) windows.delete(name);
    else if (windows.size >= max) windows.delete(windows.keys().next().value!);
    const window = known ?? make();
    windows.set(name, window);
    return window;
  }

  function knownWindow(windows: Map<string, Window>, name: string): Window {
    return windows.has(name) ? boundedWindow(windows, name) : unused;
  }

  return {
    /** Counts one request of a project and environment, or of one of its chat pages. Null: this limit is off. */
    take(scope: Scope, bucket: Bucket, overrides: Partial<RateLimits> = {}, page?: string): Standing | null {
      const limit = overrides[bucket] ?? defaultLimits[bucket];
      return limit > 0 ? windowOf(scope, bucket, page).take(limit, now()) : null;
    },
    /**
     * Counts one of what somebody asks for, by itself of a minute. No page is ever forgotten: what its day may cost hangs
     * on it, and no visitor makes pages. `before` is asked once: how long ago, in ms and the longest first, what is
     * stored was accepted.
     */
    takeOf(kind: Counted, name: string, what: string, limit: number, { span_ms, before }: Span = {}): Standing {
      const key = `${kind === "address" ? networkOf(name) : name}/${what}`;
      const max = kind === "page" ? Number.POSITIVE_INFINITY : maxWindows;
      const at = now();
      const make = () =>
        createWindow(
          span_ms,
          before?.(span_ms ?? windowMs).map((age_ms) => at - age_ms),
        );
      return boundedWindow(counted[kind], key, max, make).take(limit, at);
    },
    /** What is left, without counting anything. */
    peek(scope: Scope, bucket: Bucket, overrides: Partial<RateLimits> = {}): Standing | null {
      const limit = overrides[bucket] ?? defaultLimits[bucket];
      return limit > 0 ? windowOf(scope, bucket).peek(limit, now()) : null;
    },
    /** Counts one failed authentication, which no project pays for. */
    takeFailure: (address: string): Standing =>
      boundedWindow(addresses, networkOf(address)).take(failuresPerMinute, now()),
    peekFailures: (address: string): Standing =>
      knownWindow(addresses, networkOf(address)).peek(failuresPerMinute, now()),
  };
}

/** A clock that starts at the wall's time and never steps back, so that a corrected wall clock refuses nobody. */
export const steadyNow = (): number => performance.timeOrigin + performance.now();

/** The accepted times of one bucket. The limit is told each time: one that was changed counts what was accepted before. */
interface Window {
  take(limit: number, at: number): Standing;
  peek(limit: number, at: number): Standing;
}

/** A ring of the accepted times: a counter per minute would accept twice the limit around the turn of the minute. */
function createWindow(span_ms = windowMs, before: readonly number[] = []): Window {
  let ring = new Float64Array(16);
  let [oldest, size] = [0, 0];
  const timeOf = (index: number): number => ring[(oldest + index) % ring.length]!;

  const forget = (at: number) => {
    // What is exactly as old still counts: both ends of a window belong to it.
    while (size > 0 && at - timeOf(0) > span_ms) {
      oldest = (oldest + 1) % ring.length;
      size--;
    }
  };
  const note = (at: number) => {
    if (size === ring.length) {
      const larger = new Float64Array(size * 2);
      for (let i = 0; i < size; i++) larger[i] = timeOf(i);
      [ring, oldest] = [larger, 0];
    }
    ring[(oldest + size++) % ring.length] = at;
  };
  before.forEach(note);
  const standing = (limit: number, at: number, accepted: boolean): Standing => ({
    accepted,
    limit,
    // A limit that was lowered may be less than what was accepted before.
    remaining: Math.max(0, limit - size),
    reset: Math.ceil((size === 0 ? at : timeOf(size - 1) + span_ms + 1) / 1000),
    retryAfter: accepted ? 0 : Math.ceil((timeOf(size - limit) + span_ms + 1 - at) / 1000),
  });

  return {
    take(limit, at) {
      forget(at);
      const accepted = size < limit;
      if (accepted) note(at);
      return standing(limit, at, accepted);
    },
    peek(limit, at) {
      forget(at);
      return standing(limit, at, size < limit);
    },
  };
}

// One IPv6 customer has a /64 at least.
const networkOf = (address: string): string =>
  address.includes(":") && !address.includes(".") ? expandedPrefix(address) : address;

function expandedPrefix(address: string): string {
  const [head = "", tail] = address.split("::");
  const groups = head.split(":").filter(Boolean);
  const rest = tail?.split(":").filter(Boolean) ?? [];
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - rest.length);
  return [...groups, ...Array<string>(zeros).fill("0"), ...rest].slice(0, 4).join(":");
}
