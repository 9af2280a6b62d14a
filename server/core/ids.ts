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

// Of all two digits, by their number.
const pairs = Array.from(alphabet, (first) => Array.from(alphabet, (second) => first + second)).flat();

let lastTime = -1;
/** All digits of the last id but two, and the number of these. */
let lastHead = "";
let lastPair = 0;
/** The random ones among those in front. */
let lastRandom = new Uint8Array(randomLength - 2);

/**
 * A prefixed ULID (`run_01jd…`, 26 characters after the prefix): sorts by creation time, and ids made by one process
 * always sort in the order in which they were made.
 */
export function newId(kind: Kind, now: number = Date.now()): string {
  // Also when the clock was set back: whoever lists what is new since an id would miss what sorts before it.
  if (now > lastTime) begin(now);
  else if (++lastPair === pairs.length) carry();
  return `${prefixes[kind]}_${lastHead}${pairs[lastPair]!}`;
}

function begin(now: number): void {
  lastTime = now;
  const random = crypto.getRandomValues(new Uint8Array(randomLength)).map((byte) => byte & 31);
  lastRandom = random.subarray(0, -2);
  lastHead = headText();
  lastPair = random.at(-2)! * alphabet.length + random.at(-1)!;
}

function carry(): void {
  increment(lastRandom);
  lastHead = headText();
  lastPair = 0;
}

// Joined, and not added up: such a text would be put together anew wherever an id is written.
const headText = (): string => [timeText(lastTime), ...Array.from(lastRandom, (digit) => alphabet[digit])].join("");

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
