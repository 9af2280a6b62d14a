import type { Scope } from "../core/scope.ts";

/** Requests per minute by kind, as they stand in a project's settings. 0 is off. */
export const rateLimits = { reads_per_minute: 600, run_creations_per_minute: 120, writes_per_minute: 300 };
export type Bucket = keyof typeof rateLimits;
export type RateLimits = Record<Bucket, number>;

/** Failed authentications per minute that one address gets an ordinary answer for. */
const failuresPerMinute = 60;
const maxAddresses = 10_000;
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

  function windowOf(scope: Scope, bucket: Bucket, overrides: Partial<RateLimits>): Window | null {
    const limit = overrides[bucket] ?? rateLimits[bucket];
    if (limit <= 0) return null;
    const key = `${scope.project_id}/${scope.environment}`;
    const windows = scopes.get(key) ?? new Map<Bucket, Window>();
    if (windows.size === 0) scopes.set(key, windows);
    const known = windows.get(bucket);
    if (known?.limit === limit) return known;
    const window = createWindow(limit, known);
    windows.set(bucket, window);
    return window;
  }

  function addressWindow(address: string): Window {
    const known = addresses.get(address);
    if (known) return known;
    // Whoever owns a /48 has more addresses than we have memory: the oldest one is forgotten.
    if (addresses.size >= maxAddresses) addresses.delete(addresses.keys().next().value!);
    const window = createWindow(failuresPerMinute);
    addresses.set(address, window);
    return window;
  }

  return {
    /** Counts one request of a project and environment. Null: this limit is off. */
    take: (scope: Scope, bucket: Bucket, overrides: Partial<RateLimits> = {}): Standing | null =>
      windowOf(scope, bucket, overrides)?.take(now()) ?? null,
    /** What is left, without counting anything. */
    peek: (scope: Scope, bucket: Bucket, overrides: Partial<RateLimits> = {}): Standing | null =>
      windowOf(scope, bucket, overrides)?.peek(now()) ?? null,
    /** Counts one failed authentication, which no project pays for. */
    takeFailure: (address: string): Standing => addressWindow(networkOf(address)).take(now()),
    peekFailures: (address: string): Standing =>
      (addresses.get(networkOf(address)) ?? createWindow(failuresPerMinute)).peek(now()),
  };
}

/** A clock that starts at the wall's time and never steps back, so that a corrected wall clock refuses nobody. */
export const steadyNow = (): number => performance.timeOrigin + performance.now();

interface Window {
  limit: number;
  take(at: number): Standing;
  peek(at: number): Standing;
  /** The accepted times, oldest first. */
  times(): number[];
}

/** A ring of the accepted times: a counter per minute would accept twice the limit around the turn of the minute. */
function createWindow(limit: number, before?: Window): Window {
  const ring = new Float64Array(limit);
  let [oldest, size] = [0, 0];
  for (const time of before?.times().slice(-limit) ?? []) ring[size++] = time;

  const forget = (at: number) => {
    // Exactly 60 s old still counts: both ends of a window belong to it.
    while (size > 0 && at - ring[oldest]! > windowMs) {
      oldest = (oldest + 1) % limit;
      size--;
    }
  };
  const standing = (at: number, accepted: boolean): Standing => ({
    accepted,
    limit,
    remaining: limit - size,
    reset: Math.ceil((size === 0 ? at : ring[(oldest + size - 1) % limit]! + windowMs + 1) / 1000),
    retryAfter: accepted ? 0 : Math.ceil((ring[oldest]! + windowMs + 1 - at) / 1000),
  });

  return {
    limit,
    take(at) {
      forget(at);
      const accepted = size < limit;
      if (accepted) ring[(oldest + size++) % limit] = at;
      return standing(at, accepted);
    },
    peek(at) {
      forget(at);
      return standing(at, size < limit);
    },
    times: () => Array.from({ length: size }, (_, index) => ring[(oldest + index) % limit]!),
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
