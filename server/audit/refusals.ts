import type { Audit } from "../db/audit.ts";
import type { Db } from "../db/open.ts";
import type { OnRefused } from "../http/auth.ts";
import { createRouteFinder, type Route } from "../http/find-routes.ts";
import type { Log } from "../lib/log.ts";
import { createSample, type Sample } from "../lib/sample.ts";

const perActor = { most: 3, window_ms: 3_600_000 };
const maxActors = 10_000;

/** Notes who was refused for want of a scope or a role: some of each, since a program that is refused asks again. */
export function createRefusals({
  db,
  audit,
  routes,
  log,
  now,
}: {
  db: Pick<Db, "write">;
  audit: Audit;
  /** Every route of the finished application: an address is told as they are written, with nothing that a client made up. */
  routes: () => readonly Route[];
  log: Log;
  now: () => number;
}) {
  let findRoutes: ReturnType<typeof createRouteFinder> | undefined;
  const samples = new Map<string, Sample>();

  function sampleOf(id: string): Sample {
    const sample = samples.get(id) ?? createSample({ ...perActor, now });
    samples.delete(id); // To the end of the order: what is forgotten below is what was quiet for longest.
    samples.set(id, sample);
    if (samples.size > maxActors) samples.delete(samples.keys().next().value!);
    return sample;
  }

  const refused: OnRefused = (actor, asked, { required, request: { method, url } }) => {
    const more = sampleOf(actor.id).take();
    if (!more) return;
    findRoutes ??= createRouteFinder(routes());
    const route = findRoutes(new URL(url).pathname)[0]?.path.replace(/\/$/, "");
    const by = { actor, project_id: asked?.project_id, environment: asked?.environment };
    const details = { ...required, method, route, ...more };
    // Nobody waits for it: the answer is the same whether or not it could be noted.
    db.write(() => audit.note(by, "request.refused", null, details)).catch((error) =>
      log.warn("a refusal was not noted in the audit log", { error }),
    );
  };
  return refused;
}
