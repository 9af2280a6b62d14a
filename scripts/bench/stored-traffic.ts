import { Database } from "bun:sqlite";
import { firstIdAt, type Kind, newId } from "../../server/domain/ids.ts";

const perCommit = 10_000;
const words = 4000;
const models = ["openai/gpt-5", "anthropic/claude", "google/gemini", "test/echo"];
const tools = ["get_weather", "find_order", "send_mail", "search_docs", "book_room"];
const errors = ["model_error", "tool_error", "run_timeout", "budget_exceeded"];

/**
 * Fills a database with realistic runs: inputs, outputs and arguments with few frequent and many rare words, several
 * agents, models, tools, users and errors, over the last 30 days. The server must not run.
 */
export function storeTraffic(path: string, count: number): void {
  const db = new Database(path);
  for (const pragma of ["busy_timeout = 60000", "synchronous = OFF", "foreign_keys = OFF", "cache_size = -200000"])
    db.run(`PRAGMA ${pragma}`);
  const names = db
    .query<{ name: string }, []>("SELECT name FROM pragma_table_info('runs')")
    .all()
    .map(({ name }) => name);
  const model = db
    .query<Record<string, string | number>, []>(
      `SELECT ${names.join(", ")} FROM runs WHERE status = 'completed' LIMIT 1`,
    )
    .get()!;
  const created = JSON.parse(
    db
      .query<{ data: string }, [string]>("SELECT data FROM run_events WHERE run_id = ? AND seq = 1")
      .get(String(model.id))!.data,
  );
  const insertRun = db.query(`INSERT INTO runs (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`);
  const insertEvent = db.query("INSERT INTO run_events (run_id, seq, at_ms, type, data) VALUES (?, ?, ?, ?, ?)");
  const random = mulberry32(1);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() ** 2 * from.length)]!;
  /** By Zipf's law: the first words are frequent. */
  const word = (): string => `word${Math.floor(words ** random()) - 1}`;
  const text = (length: number): string => Array.from({ length }, word).join(" ");
  const agents = Array.from({ length: 20 }, () => newId("agent"));
  const usage = (tokens: number) => ({
    input_tokens: tokens,
    output_tokens: Math.round(tokens / 4),
    cached_input_tokens: 0,
    reasoning_tokens: 0,
    total_tokens: Math.round(tokens * 1.25),
    model_calls: 2,
    tool_calls: 1,
    estimated: false,
    cost_usd: tokens / 1e6,
  });
  const last = Date.now() - 60_000;
  const span_ms = 30 * 24 * 3_600_000;

  function store(index: number): void {
    const at = Math.round(last - ((count - index) / count) * span_ms);
    const id = (kind: Kind) => idAt(kind, at, index);
    const run_id = id("run");
    const [agent_id, of] = [pick(agents), pick(models)];
    const user_id = `user-${Math.floor(random() * 5000)}`;
    const metadata = { tenant: `tenant-${Math.floor(random() * 200)}`, order: `order-${index}` };
    const tokens = 200 + Math.floor(random() * 4000);
    const worked_ms = Math.round(200 * Math.exp(random() * 5));
    const error = random() < 0.05 ? pick(errors) : null;
    const tool = pick(tools);
    const call = {
      id: `call_${index}`,
      step_index: 1,
      turn_index: 0,
      tool_id: null,
      tool,
      type: "http",
      arguments: { q: text(4) },
      needs: null,
    };
    const answer = {
      usage: usage(tokens),
      cost_usd: tokens / 1e6,
      estimated: false,
      message_id: id("message"),
      parts: [],
      deltas: [],
      finish: "stop",
      time_to_first_token_ms: 50 + Math.floor(random() * 900),
    };
    const step = { step_index: 0, step_type: "model_call" };
    const ends = error
      ? {
          type: "run.failed",
          error: { type: "run_error", code: error, message: "It failed.", step_index: 0, retryable: false },
          output: null,
          usage: usage(tokens),
        }
      : { type: "run.completed", output: text(40), output_json: null, usage: usage(tokens) };
    const entries = [
      { ...created, run_id, agent_id, model: of, input: text(20), user_id, metadata },
      {
        type: "step.started",
        step_id: id("step"),
        ...step,
        turn_index: 0,
        name: of,
        attempt: 1,
        tool_call_id: null,
        input_hash: null,
      },
      { type: "tool.requested", call },
      { type: "step.completed", ...step, status: "completed", latency_ms: 300, error: null, answer },
      {
        type: "tool.completed",
        tool_call_id: call.id,
        step_index: 1,
        tool,
        status: error === "tool_error" ? "failed" : "completed",
        output: "ok",
        error: null,
        latency_ms: Math.round(worked_ms / 3),
        attempts: 1,
        message_id: id("message"),
        submitted: false,
      },
      ends,
    ];
    const row: Record<string, unknown> = {
      ...model,
      id: run_id,
      agent_id,
      model: of,
      user_id,
      metadata: JSON.stringify(metadata),
      seq: entries.length,
      status: error ? "failed" : "completed",
      created_at_ms: at,
      ended_at_ms: at + worked_ms,
      worked_ms,
      status_since_ms: at + worked_ms,
      projected: 0,
      thread_id: null,
    };
    insertRun.run(...(names.map((name) => row[name]) as string[]));
    for (const [position, event] of entries.entries())
      insertEvent.run(run_id, position + 1, at + position, event.type, JSON.stringify(event));
  }

  const some = db.transaction((from: number, to: number) => {
    for (let index = from; index < to; index++) store(index);
  });
  for (let from = 0; from < count; from += perCommit) {
    some.immediate(from, Math.min(count, from + perCommit));
    db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  db.close();
}

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
/** Returns an id of the past; new ids would all be of today. */
function idAt(kind: Kind, at: number, index: number): string {
  const digits = [...index.toString(32).padStart(6, "0")].map((digit) => alphabet[Number.parseInt(digit, 32)]!);
  return firstIdAt(kind, at).slice(0, -6) + digits.join("");
}

/** Returns the same numbers every time. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
