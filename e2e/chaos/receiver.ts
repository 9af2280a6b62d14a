import { Webhook } from "standardwebhooks";
import { startWebhookReceiver } from "../../server/testing/webhook-receiver.ts";
import type { Json } from "../harness.ts";
import type { Random } from "./random.ts";
import { isEnd } from "./readings.ts";
import { placeOf, type RecordedRun } from "./record.ts";

export type StormReceiver = ReturnType<typeof startStormReceiver>;

/** An application that receives every run's end, and fails three of ten requests during the storm. */
export function startStormReceiver(random: Random) {
  let webhook: Webhook | null = null;
  let storm = true;
  /** Event ids received, by run and journal entry. */
  const heard = new Map<string, Set<string>>();
  const forged: string[] = [];
  const figures = { events_heard: 0, events_refused: 0 };

  const receiver = startWebhookReceiver(({ headers, body }) => {
    figures.events_heard++;
    try {
      note(webhook!.verify(body, headers) as Json);
    } catch (error) {
      forged.push(`${headers["webhook-id"]}: ${error}`);
    }
    const fails = storm && random.chance(0.3);
    if (fails) figures.events_refused++;
    return new Response(null, { status: fails ? 500 : 204 });
  });

  function note({ id, run_id, seq }: Json): void {
    const place = placeOf(run_id, seq);
    heard.set(place, (heard.get(place) ?? new Set()).add(id));
    if (heard.get(place)!.size > 1) forged.push(`${place} came under several ids`);
  }

  return {
    url: receiver.url,
    figures,
    /** Verifies events with this secret, by a third-party library. */
    trust(secret: string): void {
      webhook = new Webhook(secret);
    },
    /** Accepts everything from now on. */
    heal(): void {
      storm = false;
    },
    /** Ends of these runs that were never delivered. */
    unheard: (runs: Iterable<RecordedRun>): string[] =>
      [...runs].flatMap(({ id, rows }) =>
        rows.filter((row) => isEnd(row) && !heard.has(placeOf(id, row.seq))).map(({ type }) => `${id} ${type}`),
      ),
    /** Returns events that do not verify, came under two ids, or contradict these runs. */
    forged(runs: ReadonlyMap<string, RecordedRun>): string[] {
      const known = [...runs.values()].flatMap(({ id, rows }) => rows.filter(isEnd).map(({ seq }) => placeOf(id, seq)));
      return [...forged, ...[...heard.keys()].filter((place) => !known.includes(place))];
    },
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  };
}
