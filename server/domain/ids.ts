/** Prefix of each id, before its `_`. */
export const prefixes = {
  agent: "agt",
  label: "lbl",
  run: "run",
  tool: "tool",
  skill: "skl",
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
  trigger: "trg",
  trigger_delivery: "tdl",
  oauth_client: "oac",
  oauth_grant: "oag",
  suite: "sui",
  suite_run: "srun",
  score: "scr",
  firing: "fire",
  request: "req",
  secret: "sec",
  snippet: "snp",
  audit_entry: "aud",
  erasure: "era",
  alert: "alr",
  move: "mov",
  elicitation: "elc",
} as const;

export type Kind = keyof typeof prefixes;

// Crockford's base 32 in lower case: without i, l, o and u, so that ids can be read aloud.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const timeLength = 10;
const randomLength = 16;

// All pairs of digits, by number.
const pairs = Array.from(alphabet, (first) => Array.from(alphabet, (second) => first + second)).flat();

let lastTime = -1;
/** The last id without its last two digits, and the number of those. */
let lastHead = "";
let lastPair = 0;

/**
 * Returns a prefixed ULID (`run_01jd…`, 26 characters after the prefix). Ids sort by creation time, and those of one
 * process always in the order of creation. So do their time and last two digits alone, by which search sorts: once
 * these digits are used up, as happens after a clock was set back, ids have the next millisecond.
 */
export function newId(kind: Kind, now: number = Date.now()): string {
  // Never go back with the clock: readers that list from the last id on would miss smaller ones.
  if (now > lastTime) begin(now);
  else if (++lastPair === pairs.length) begin(lastTime + 1);
  return `${prefixes[kind]}_${lastHead}${pairs[lastPair]}`;
}

function begin(now: number): void {
  lastTime = now;
  const random = crypto.getRandomValues(new Uint8Array(randomLength)).map((byte) => byte & 31);
  // Joined at once: a string built by concatenation would be flattened again for each id.
  lastHead = [timeText(now), ...Array.from(random.subarray(0, -2), (digit) => alphabet[digit])].join("");
  lastPair = random.subarray(-2).reduce((number, digit) => number * alphabet.length + digit, 0);
}

function timeText(now: number): string {
  let text = "";
  for (let rest = now, i = 0; i < timeLength; i++, rest = Math.floor(rest / 32)) text = alphabet[rest % 32] + text;
  return text;
}

/** Returns the creation time of an id. */
export function timeOf(id: string): number {
  const from = id.indexOf("_") + 1;
  return [...id.slice(from, from + timeLength)].reduce((ms, digit) => ms * 32 + alphabet.indexOf(digit), 0);
}

/** Returns the lowest id of this time, for range queries. */
export const firstIdAt = (kind: Kind, ms: number): string =>
  `${prefixes[kind]}_${timeText(ms)}${alphabet.charAt(0).repeat(randomLength)}`;

/** Makes ids independent of earlier ones, for simulations with a new clock. */
export function forgetLastId(): void {
  lastTime = -1;
}

/** True if the text has the form of an id of this kind; the resource need not exist. */
export function isId(kind: Kind, text: string): boolean {
  const prefix = prefixes[kind];
  return text.startsWith(`${prefix}_`) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(text.slice(prefix.length + 1));
}

/** Returns the id of a related resource: a run's trace is `trc_` with the run's digits. */
export function siblingId(id: string, kind: Kind): string {
  return `${prefixes[kind]}${id.slice(id.indexOf("_"))}`;
}

/** JSON Schema pattern of an id in a path or a body. */
export const idPattern = (kind: Kind): string => `^${prefixes[kind]}_[0-9a-hjkmnp-tv-z]{26}$`;
