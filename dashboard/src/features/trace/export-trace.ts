import type { Trace as TracePage } from "../../../../server/wire/trace.ts";
import { traceUrl } from "../../entities/run/trace-api.ts";
import { get, resourceUrl } from "../../lib/api.ts";
import { downloadText, downloadUrl } from "../../lib/download.ts";
import type { Workspace } from "../../lib/workspace.ts";

/** Saves the whole trace with the journal's entries: what another server takes as an import. */
export async function downloadTrace(at: Workspace, runId: string): Promise<void> {
  const values = { limit: 100, include: "raw" };
  const first = await get<TracePage>(traceUrl(at, runId, values));
  const steps = [...first.steps];
  for (let more = first.steps_has_more; more; ) {
    const page = await get<TracePage>(traceUrl(at, runId, { ...values, starting_after: steps.at(-1)?.id }));
    steps.push(...page.steps);
    more = page.steps_has_more;
  }
  downloadText(JSON.stringify({ ...first, steps, steps_has_more: false }, null, 2), `${runId}.trace.json`);
}

/** Saves it for tools that read OpenTelemetry. */
export const downloadOtlp = (at: Workspace, runId: string): void =>
  downloadUrl(traceUrl(at, runId, { format: "otlp" }), `${runId}.otlp.json`);

/** Saves the run as one file that another server can show, replay and fork. */
export const downloadCapsule = (at: Workspace, runId: string): void =>
  downloadUrl(resourceUrl(at, `/runs/${encodeURIComponent(runId)}/capsule`), `${runId}.capsule.sqlite3`);
