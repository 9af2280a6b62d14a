/** What every id begins with, before its `_`. */
export const prefixes = {
  agent: "agt",
  run: "run",
  tool: "tool",
  memory: "mem",
  file: "file",
  webhook: "whk",
  trace: "trc",
  api_key: "key",
  client_token: "ctk",
  chat_page: "chp",
  project: "proj",
  thread: "thr",
  message: "msg",
  tool_call: "call",
  step: "stp",
  event: "evt",
  delivery: "dlv",
  memory_entry: "ment",
  schedule: "sch",
  suite: "sui",
  suite_run: "srun",
  score: "scr",
  firing: "fire",
  request: "req",
  secret: "sec",
  audit_entry: "aud",
  erasure: "era",
  alert: "alr",
  move: "mov",
} as const;

export type Kind = keyof typeof prefixes;

// Crockford's base 32 in lower case: no i, l, o, u, so that an id survives being read aloud.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const timeLength = 10;
const randomLength = 16;

let lastTime = -1;
let lastTimeText = "";
let lastRandom = new Uint8Array(randomLength);

/**
 * A prefixed ULID (`run_01jd…`, 26 characters after the prefix): sorts by creation time, and ids made by one process
 * always sort in the order in which they were made.
 */
export function newId(kind: Kind, now: number = Date.now()): string {
  // Also when the clock was set back: whoever lists what is new since an id would miss what sorts before it.
  if (now <= lastTime) increment(lastRandom);
  else {
    lastTime = now;
    lastTimeText = timeText(now);
    lastRandom = crypto.getRandomValues(new Uint8Array(randomLength)).map((byte) => byte & 31);
  }
  let random = "";
  for (let i = 0; i < randomLength; i++) random += alphabet[lastRandom[i]!];
  return `${prefixes[kind]}_${lastTimeText}${random}`;
}

function timeText(now: number): string {
  let text = "";
  for (let rest = now, i = 0; i < timeLength; i++, rest = Math.floor(rest / 32)) text = alphabet[rest % 32] + text;
  return text;
}

/** When an id was made. */
export function timeOf(id: string): number {
  const from = id.indexOf("_") + 1;
  return [...id.slice(from, from + timeLength)].reduce((ms, digit) => ms * 32 + alphabet.indexOf(digit), 0);
}

/** Ids of this kind that were made at this time or later are not before this one. */
export const firstIdAt = (kind: Kind, ms: number): string =>
  `${prefixes[kind]}_${timeText(ms)}${alphabet[0]!.repeat(randomLength)}`;

/** For a simulation, whose clock begins anew: the next id depends on no id before it. */
export function forgetLastId(): void {
  lastTime = -1;
}

function increment(digits: Uint8Array): void {
  for (let i = digits.length - 1; i >= 0; i--) {
    if (digits[i] !== 31) {
      digits[i]!++;
      return;
    }
    digits[i] = 0;
  }
}

/** Whether the text has the form of an id of this kind; says nothing about whether the thing exists. */
export function isId(kind: Kind, text: string): boolean {
  const prefix = prefixes[kind];
  return text.startsWith(`${prefix}_`) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(text.slice(prefix.length + 1));
}

/** The id of another kind that belongs to this one for ever: a run's trace is `trc_` with the run's own digits. */
export function siblingId(id: string, kind: Kind): string {
  return `${prefixes[kind]}${id.slice(id.indexOf("_"))}`;
}

/** JSON Schema pattern of an id in a path or a body. */
export const idPattern = (kind: Kind): string => `^${prefixes[kind]}_[0-9a-hjkmnp-tv-z]{26}$`;
