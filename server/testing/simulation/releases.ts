import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { AppError } from "../../domain/errors.ts";
import type { RunCreated } from "../../domain/run-event.ts";
import { createLabelRuns } from "../../resources/labels/label-runs.ts";
import { createAgentResolver } from "../../resources/labels/resolve-agent.ts";
import { createLabelStore, type LabelStore } from "../../resources/labels/store.ts";
import { createAudit } from "../../storage/db/audit.ts";
import type { Db } from "../../storage/db/open.ts";
import { agentLabelRevisions, agentLabels, agents, agentVersions } from "../../storage/db/schema.ts";
import { agentOfVersion, label, released, versions } from "./released-agent.ts";
import type { Skills } from "./skills.ts";
import type { Fixture, Witness } from "./witness.ts";
import type { World } from "./world.ts";

/** Rows that the labels' world keeps across processes. */
export const releaseTables = ["label_runs", "agent_label_revisions", "agent_labels", "agent_versions", "agents"];

const label_id = "lab_released";
const whole = (version: number) => [{ version, percent: 100 }];

/** Creates the versions of the agent and its label; clients move the label in the middle of runs. */
export function createReleases(world: World, skills: Skills, { found }: Witness, fixture: () => Fixture) {
  let labels: LabelStore;
  let resolver: ReturnType<typeof createAgentResolver>;

  /** Call once for a life, after `start`. */
  function install({ orm }: Db): void {
    const { scope } = fixture();
    const at = world.now();
    const times = { created_at_ms: at, updated_at_ms: at };
    const blank = { definition: {}, metadata: {} };
    const own = { ...scope, id: released, name: "Released", model: "test/script", version: versions.length };
    const of = { ...scope, agent_id: released };
    orm
      .insert(agents)
      .values({ ...own, ...blank, ...times })
      .run();
    for (const version of versions)
      orm
        .insert(agentVersions)
        .values({ ...of, ...blank, version, created_at_ms: at })
        .run();
    const shares = whole(1);
    const moved = { revision: 1, moved_revision: 1, moved_at_ms: at };
    orm
      .insert(agentLabels)
      .values({ ...of, ...moved, ...times, id: label_id, name: label, shares, rollback_on: null })
      .run();
    const actor = { actor_type: "cli" as const, actor_id: "runnel" };
    const set = { reason: "set" as const, restores: null, created_at_ms: at };
    orm
      .insert(agentLabelRevisions)
      .values({ ...scope, ...actor, ...set, label_id, revision: 1, shares })
      .run();
  }

  /** Call for each process. */
  function start(db: Db): void {
    resolver = createAgentResolver({ db, agentsNamed: () => [], hasAgent: () => true });
    labels = createLabelStore({
      db,
      audit: createAudit({ db, now: world.now }),
      runs: createLabelRuns(db),
      hasAgent: () => true,
      hasVersion: resolver.hasVersion,
      announce() {},
      now: world.now,
    });
  }

  /** Moves the label to a version or a split, or back. */
  async function move(): Promise<void> {
    const [version, other] = [world.pick(versions), world.pick(versions)];
    const { author } = fixture();
    const isBack = world.chance(0.3);
    const share = 1 + world.int(99);
    const split = [
      { version, percent: share },
      { version: other, percent: 100 - share },
    ];
    world.note(isBack ? "client: roll back" : `client: label version ${version}`);
    try {
      await (isBack
        ? labels.rollBack(author, released, label, {})
        : labels.put(author, released, label, version !== other && world.chance(0.4) ? { split } : { version }));
    } catch (error) {
      if (error instanceof AppError && error.code !== "label_has_no_past") throw found(`label: ${error.code}`);
    }
  }

  const selectShares = (revision: number): { version: number }[] => {
    const select = fixture().db.sqlite.query<{ shares: string }, [number]>(
      `SELECT shares FROM agent_label_revisions WHERE label_id = '${label_id}' AND revision = ?`,
    );
    return JSON.parse(select.get(revision)?.shares ?? "[]");
  };

  return {
    install,
    start,
    move: () => void move().catch(() => {}), // The witness keeps the error.
    /** Returns the version that a run gets. */
    choose: (...order: Parameters<typeof resolver.choose>) => resolver.choose(...order),
    /** Returns the agent in a version, by default the newest. */
    snapshot: (id: string, version: number | null): AgentSnapshot | null =>
      id === released ? agentOfVersion(version ?? versions.length, skills) : null,
    /** Checks that a run has a version that its label held. */
    judge({ agent_id, agent_version, label: named }: RunCreated): void {
      if (agent_id !== released || !named) return;
      if (!selectShares(named.revision).some(({ version }) => version === agent_version))
        throw found(`version ${agent_version} was never under revision ${named.revision} of its label`);
    },
  };
}
