import type { OnRefused } from "../../http/auth.ts";
import { createRouteFinder, type Route } from "../../http/find-routes.ts";
import { deleteOldest } from "../../lib/collections.ts";
import type { Log } from "../../lib/log.ts";
import { createLogSampler, type LogSampler } from "../../lib/log-sampler.ts";
import type { Audit } from "../../storage/db/audit.ts";
import type { Db } from "../../storage/db/open.ts";

const perActor = { most: 3, window_ms: 3_600_000 };
const maxActors = 10_000;

/** Records requests that were refused for a missing scope or role. Sampled, because a refused program retries. */
export function createRefusals({
  db,
  audit,
  routes,
  log,
  now,
}: {
  db: Db;
  audit: Audit;
  /** Routes of the finished application: entries have the route pattern, never text that a client made up. */
  routes: () => readonly Route[];
  log: Log;
  now: () => number;
}) {
  let findRoutes: ReturnType<typeof createRouteFinder> | undefined;
  const samples = new Map<string, LogSampler>();

  function sampleOf(id: string): LogSampler {
    const sample = samples.get(id) ?? createLogSampler({ ...perActor, now });
    samples.delete(id); // Moves it to the end, so that the least recent one is dropped below.
    samples.set(id, sample);
    if (samples.size > maxActors) deleteOldest(samples);
    return sample;
  }

  const onRefused: OnRefused = (actor, requestedScope, { required, request: { method, url } }) => {
    const more = sampleOf(actor.id).take();
    if (!more) return;
    findRoutes ??= createRouteFinder(routes());
    const route = findRoutes(new URL(url).pathname)[0]?.path.replace(/\/$/, "");
    const by = { actor, project_id: requestedScope?.project_id, environment: requestedScope?.environment };
    const details = { ...required, method, route, ...more };
    // Not awaited: the response is the same if the write fails.
    db.write(() => audit.note(by, "request.refused", null, details)).catch((error) =>
      log.warn("a refusal was not noted in the audit log", { error }),
    );
  };
  return onRefused;
}
