import { Webhook } from "standardwebhooks";
import { startWebhookReceiver } from "../../server/testing/webhook-receiver.ts";
import type { Json } from "../harness.ts";
import type { Random } from "./random.ts";
import { isEnd } from "./readings.ts";
import { placeOf, type RecordedRun } from "./record.ts";

export type StormReceiver = ReturnType<typeof startStormReceiver>;

/** An application that hears of every end, and fails three times in ten for as long as the storm lasts. */
export function startStormReceiver(random: Random) {
  let webhook: Webhook | null = null;
  let storm = true;
  /** What came, by the run and the entry that it tells of: the event's ids. */
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
    /** How its events are verified: as their secret says, by a library that is not ours. */
    trust(secret: string): void {
      webhook = new Webhook(secret);
    },
    /** From here on it takes everything. */
    heal(): void {
      storm = false;
    },
    /** Ends of these runs that it was never told of. */
    unheard: (runs: Iterable<RecordedRun>): string[] =>
      [...runs].flatMap(({ id, rows }) =>
        rows.filter((row) => isEnd(row) && !heard.has(placeOf(id, row.seq))).map(({ type }) => `${id} ${type}`),
      ),
    /** What does not verify, came under two ids, or tells of what these runs do not know. */
    forged(runs: ReadonlyMap<string, RecordedRun>): string[] {
      const known = [...runs.values()].flatMap(({ id, rows }) => rows.filter(isEnd).map(({ seq }) => placeOf(id, seq)));
      return [...forged, ...[...heard.keys()].filter((place) => !known.includes(place))];
    },
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  };
}
