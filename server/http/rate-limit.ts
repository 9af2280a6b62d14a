import { defaultLimits, type ProjectLimits } from "../domain/project-settings.ts";
import type { Scope } from "../domain/scope.ts";
import { deleteOldest } from "../lib/collections.ts";

export type RateLimits = Omit<ProjectLimits, "runs_in_progress">;
export type Bucket = keyof RateLimits;

/** Kinds of requests, each with its own limit. */
export const buckets: readonly Bucket[] = ["reads_per_minute", "run_creations_per_minute", "writes_per_minute"];

/** Counters beside the projects'. Each kind has its own memory, so that one kind cannot evict another. */
export type CounterKind = "page" | "visitor" | "token" | "trigger" | "address";

/** A span other than a minute, with the requests that an earlier process accepted in it. */
export interface RateWindow {
  span_ms?: number;
  before?: (span_ms: number) => number[];
}

/** Failed authentications per minute and address before it gets 429. */
const failuresPerMinute = 60;
const maxWindows = 10_000;
const windowMs = 60_000;

/** State of a bucket after a request. */
export interface BucketState {
  accepted: boolean;
  limit: number;
  remaining: number;
  /** Unix seconds when the bucket is full again. */
  reset: number;
  /** Seconds after which a refused request is accepted; 0 when this one was. */
  retryAfter: number;
}

/** Exact sliding-window rate limiter: no 60 seconds contain more accepted requests than the limit. */
export type RateLimiter = ReturnType<typeof createRateLimiter>;

export function createRateLimiter({ now = steadyNow }: { now?: () => number } = {}) {
  const scopes = new Map<string, Map<Bucket, Window>>();
  const addresses = new Map<string, Window>();
  const windowsByKind: Record<CounterKind, Map<string, Window>> = {
    page: new Map(),
    visitor: new Map(),
    token: new Map(),
    trigger: new Map(),
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

  // Bounds memory by evicting the least recently used window: an owner of a /48 has more addresses than we have memory.
  function boundedWindow(
    windows: Map<string, Window>,
    name: string,
    max = maxWindows,
    make = () => createWindow(),
  ): Window {
    const known = windows.get(name);
    if (known) windows.delete(name);
    else if (windows.size >= max) deleteOldest(windows);
    const window = known ?? make();
    windows.set(name, window);
    return window;
  }

  function knownWindow(windows: Map<string, Window>, name: string): Window {
    return windows.has(name) ? boundedWindow(windows, name) : unused;
  }

  return {
    /**
     * Counts one request of a project and environment, or of one of its chat pages. Returns null if the limit is off.
     */
    take(scope: Scope, bucket: Bucket, overrides: Partial<RateLimits> = {}, page?: string): BucketState | null {
      const limit = overrides[bucket] ?? defaultLimits[bucket];
      return limit > 0 ? windowOf(scope, bucket, page).take(limit, now()) : null;
    },
    /**
     * Counts one request under a name; `what` separates several limits of the name. Windows of pages are never evicted:
     * they cap the cost per day, and visitors cannot create pages. `before` is called once, for the ages in ms (longest
     * first) of requests accepted earlier.
     */
    takeOf(
      kind: CounterKind,
      name: string,
      what: string,
      limit: number,
      { span_ms, before }: RateWindow = {},
    ): BucketState {
      const key = `${kind === "address" ? networkOf(name) : name}/${what}`;
      const max = kind === "page" ? Number.POSITIVE_INFINITY : maxWindows;
      const at = now();
      const make = () =>
        createWindow(
          span_ms,
          before?.(span_ms ?? windowMs).map((age_ms) => at - age_ms),
        );
      return boundedWindow(windowsByKind[kind], key, max, make).take(limit, at);
    },
    /** Returns the state without counting a request. */
    peek(scope: Scope, bucket: Bucket, overrides: Partial<RateLimits> = {}): BucketState | null {
      const limit = overrides[bucket] ?? defaultLimits[bucket];
      return limit > 0 ? windowOf(scope, bucket).peek(limit, now()) : null;
    },
    /** Counts a failed authentication, which no project is charged for. */
    takeFailure: (address: string): BucketState =>
      boundedWindow(addresses, networkOf(address)).take(failuresPerMinute, now()),
    peekFailures: (address: string): BucketState =>
      knownWindow(addresses, networkOf(address)).peek(failuresPerMinute, now()),
  };
}

/**
 * Milliseconds of a clock that starts at wall time and never steps back: a corrected wall clock would refuse requests.
 */
export const steadyNow = (): number => performance.timeOrigin + performance.now();

/** Accepted requests of a bucket. The limit is passed each time, so a changed limit applies to earlier requests too. */
interface Window {
  take(limit: number, at: number): BucketState;
  peek(limit: number, at: number): BucketState;
}

/** Ring buffer of accepted times, because a counter per minute would allow twice the limit around a minute's turn. */
function createWindow(span_ms = windowMs, before: readonly number[] = []): Window {
  let ring = new Float64Array(16);
  let [oldest, size] = [0, 0];
  const timeOf = (index: number): number => ring[(oldest + index) % ring.length]!;

  const forget = (at: number) => {
    // Both ends belong to the window: a request of exactly this age still counts.
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
  const stateOf = (limit: number, at: number, accepted: boolean): BucketState => ({
    accepted,
    limit,
    // After the limit was lowered, more requests may have been accepted than it allows.
    remaining: Math.max(0, limit - size),
    reset: Math.ceil((size === 0 ? at : timeOf(size - 1) + span_ms + 1) / 1000),
    retryAfter: accepted ? 0 : Math.ceil((timeOf(size - limit) + span_ms + 1 - at) / 1000),
  });

  return {
    take(limit, at) {
      forget(at);
      const accepted = size < limit;
      if (accepted) note(at);
      return stateOf(limit, at, accepted);
    },
    peek(limit, at) {
      forget(at);
      return stateOf(limit, at, size < limit);
    },
  };
}

// Count IPv6 by /64, because a customer has at least one.
const networkOf = (address: string): string =>
  address.includes(":") && !address.includes(".") ? expandedPrefix(address) : address;

function expandedPrefix(address: string): string {
  const [head = "", tail] = address.split("::");
  const groups = head.split(":").filter(Boolean);
  const rest = tail?.split(":").filter(Boolean) ?? [];
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - rest.length);
  return [...groups, ...Array<string>(zeros).fill("0"), ...rest].slice(0, 4).join(":");
}
