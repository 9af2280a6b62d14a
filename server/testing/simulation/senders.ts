import { createHmac } from "node:crypto";
import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { createRateLimiter } from "../../http/rate-limit.ts";
import { silentLog } from "../../lib/log.ts";
import { createSeal } from "../../lib/seal.ts";
import { createTriggerDeliveries } from "../../resources/triggers/deliveries.ts";
import { createReceiver, type Receiver } from "../../resources/triggers/receive.ts";
import { blankRow } from "../../resources/triggers/row.ts";
import { sealTriggerSecrets } from "../../resources/triggers/secrets.ts";
import { createTriggerStore } from "../../resources/triggers/store.ts";
import { createAudit } from "../../storage/db/audit.ts";
import { isStorageRefusal } from "../../storage/db/corruption.ts";
import { eventTriggers } from "../../storage/db/schema.ts";
import { createScopedTable } from "../../storage/db/scoped-table.ts";
import { type Fixture, type Ledger, short, type Witness } from "./witness.ts";
import { Found, type World } from "./world.ts";

/** An event of the outside world, which its sender repeats until it is accepted, and sometimes once more. */
interface SentEvent {
  number: number;
  /** The run that the server named; null until it has answered. */
  run: string | null;
  /** Requests without an answer yet. */
  open: number;
}

/** Rows that the senders' world keeps across processes. */
export const senderTables = ["trigger_deliveries", "trigger_events", "triggers"];

const eventsMax = 3;
const agent_id = "agt_helper";
const secret = "0123456789abcdef0123456789abcdef";
const seal = createSeal(new Uint8Array(32));
const conversations = 2;

/** Senders whose events start runs at a trigger: the same event makes one run, however often it comes. */
export function createSenders(world: World, { ledgers, found }: Witness, fixture: () => Fixture) {
  const events: SentEvent[] = [];
  const id = newId("trigger");
  /** Threads by names of events, which the real server keeps in a table of its own. */
  const threads = Array.from({ length: conversations }, () => newId("thread"));
  let receive: Receiver;

  /** Call once for a life. */
  function install(): void {
    const { scope, db } = fixture();
    const row = blankRow(scope, { id, at: world.now(), verification: "github" });
    const definition = { ...row.definition, input: inputOf("{{body.event}}"), thread: "body.thread" };
    const sealed = sealTriggerSecrets(seal, row, { secret, previous: null });
    const own = { agent_id, definition, rate_limit_per_minute: 1_000_000, sealed, has_secret: true };
    createScopedTable(db, eventTriggers).insert(scope, { ...row, ...own });
  }

  /** Call for each process. */
  function start(): void {
    const { db, service } = fixture();
    const audit = createAudit({ db, now: world.now });
    const triggers = createTriggerStore({
      db,
      audit,
      seal,
      resolveAgent: () => ({ agent_id, version: null, label: null }),
      variablesOf: () => [],
      checkRun() {},
      urlOf: () => "https://localhost",
      now: world.now,
    });
    receive = createReceiver({
      db,
      seal,
      log: silentLog,
      triggers,
      deliveries: createTriggerDeliveries({ db, now: world.now }),
      threads: {
        reserve: (_, { chat }) => threads[chat.charCodeAt(chat.length - 1) % conversations]!,
        release() {},
      },
      variablesOf: () => [],
      start: service.create,
      limiter: createRateLimiter({ now: world.now }),
      limitsOf: () => ({ run_creations_per_minute: 0 }),
      isOpen: () => true,
      clientOf: () => null,
      now: world.now,
    });
    for (const event of events) event.open = 0; // The process that would have answered is dead.
  }

  /** Sends an event; once it is accepted, it is only repeated. */
  function send(isCalm: boolean): void {
    const waiting = events.filter(({ run, open }) => run === null && open === 0);
    const isNew = !isCalm && events.length < eventsMax && world.chance(0.5);
    if (isNew) events.push({ number: events.length + 1, run: null, open: 0 });
    const event = isNew
      ? events.at(-1)
      : waiting.length > 0
        ? world.pick(waiting)
        : events.length > 0 && world.pick(events);
    if (!event) return;
    void deliver(event);
    if (world.chance(0.3)) void deliver(event);
  }

  async function deliver(event: SentEvent): Promise<void> {
    // A repeated request may have another id in its header, which is not signed.
    const delivery = world.chance(0.9) ? `delivery ${event.number}` : `delivery ${event.number} again`;
    world.note(`sender: event ${event.number}`);
    const process = receive;
    event.open++;
    try {
      const { outcome, run_id } = await receive(id, requestOf(event, delivery), "req_event");
      answered(event, outcome, run_id);
    } catch (error) {
      if (error instanceof Found || isStorageRefusal(error)) return;
      if (error instanceof AppError && (error.code === "storage_full" || isStorageRefusal(error.cause))) return;
      found(`event ${event.number}: ${error}`);
    } finally {
      if (process === receive) event.open--;
    }
  }

  function answered(event: SentEvent, outcome: string, run_id: string | null): void {
    world.note(`sender: event ${event.number} ${outcome}`);
    if (run_id === null) throw found(`event ${event.number}: ${outcome}, without a run`);
    if (event.run !== null && event.run !== run_id) throw found(`event ${event.number}: two runs for one event`);
    if (event.run !== null && outcome === "started") throw found(`event ${event.number}: started twice`);
    if (!ledgers.has(run_id)) throw found(`event ${event.number}: accepted, and its run is not recorded (P1)`);
    event.run = run_id;
  }

  const runsOf = ({ number }: SentEvent): Ledger[] =>
    [...ledgers.values()].filter(({ state }) => state.run?.input === inputOf(String(number)));

  return {
    install,
    start,
    send,
    /** True while an event was sent and not accepted. */
    isWaiting: () => events.some(({ run }) => run === null),
    /** Checks that each event has one run (P8). */
    rested(): void {
      for (const event of events) {
        const [run, ...others] = runsOf(event);
        if (others.length > 0) throw found(`event ${event.number}: ${others.length + 1} runs for one event (P8)`);
        if (run?.id !== event.run) throw found(`event ${event.number}: it was told of ${short(event.run!)} (P1)`);
      }
    },
  };
}

const inputOf = (number: string): string => `An event arrived: ${number}`;

function requestOf({ number }: SentEvent, delivery: string): Request {
  const body = JSON.stringify({ event: number, thread: number % conversations });
  const headers = {
    "content-type": "application/json",
    "x-github-delivery": delivery,
    "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
  };
  return new Request("http://localhost/triggers", { method: "POST", headers, body });
}
