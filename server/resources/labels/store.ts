import { and, asc, desc, eq, lt } from "drizzle-orm";
import {
  holdSameVersions,
  inOrder,
  isExactPercent,
  isLabelName,
  type LabelReason,
  type LabelShare,
  newerVersion,
  percentsTogether,
  type RollbackRule,
  rollbackCause,
} from "../../domain/agent-label.ts";
import type { WebhookEvent } from "../../domain/api-types/enums.ts";
import type { AgentLabel } from "../../domain/api-types/label.ts";
import { noSuch } from "../../domain/error-messages.ts";
import { AppError, type Fault } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { limits } from "../../domain/limits.ts";
import { notFound, throwNotFound } from "../../domain/not-found.ts";
import type { Scope } from "../../domain/scope.ts";
import { timestamp } from "../../domain/time.ts";
import type { Viewer } from "../../http/auth.ts";
import { fault, invalid, throwIfInvalid } from "../../http/errors.ts";
import { fillPage, readRows, toList } from "../../http/page.ts";
import { requireValue } from "../../lib/require-value.ts";
import { type Author, itself, type StoreBase } from "../../storage/db/audit.ts";
import { agentLabelRevisions, agentLabels } from "../../storage/db/schema.ts";
import { createScopedTable } from "../../storage/db/scoped-table.ts";
import type { createLabelRuns, EndedLabelRun } from "./label-runs.ts";
import type { PutLabel, RollBackLabel } from "./schema.ts";

type Row = typeof agentLabels.$inferSelect;
type Revision = typeof agentLabelRevisions.$inferSelect;

interface LabelStoreOptions extends StoreBase {
  runs: ReturnType<typeof createLabelRuns>;
  hasAgent(viewer: Viewer, id: string): boolean;
  hasVersion(scope: Scope, id: string, version: number): boolean;
  /** Call inside a write. */
  announce(scope: Scope, type: WebhookEvent, object: Record<string, unknown>): void;
}

export type LabelStore = ReturnType<typeof createLabelStore>;

/** A move of a label, before it is written. */
interface Move {
  shares: LabelShare[];
  rollback_on: RollbackRule | null;
  reason: LabelReason;
  restores: number | null;
}

/** Labels of agents. Every move is one write: the label, its history, the audit entry and the event. */
export function createLabelStore({
  db,
  audit,
  runs,
  hasAgent,
  hasVersion,
  announce,
  now = Date.now,
}: LabelStoreOptions) {
  const { orm } = db;
  const rows = createScopedTable(db, agentLabels);

  const ofAgent = ({ project_id, environment }: Scope, agentId: string) =>
    and(
      eq(agentLabels.project_id, project_id),
      eq(agentLabels.environment, environment),
      eq(agentLabels.agent_id, agentId),
    );
  const ofLabel = ({ project_id, environment }: Scope, id: string) =>
    and(
      eq(agentLabelRevisions.project_id, project_id),
      eq(agentLabelRevisions.environment, environment),
      eq(agentLabelRevisions.label_id, id),
    );

  function requireAgent(viewer: Viewer, agentId: string): void {
    if (!hasAgent(viewer, agentId)) throw notFound();
  }

  const labelsOf = (scope: Scope, agentId: string): Row[] =>
    orm.select().from(agentLabels).where(ofAgent(scope, agentId)).orderBy(asc(agentLabels.name)).all();

  /** Returns the label of an agent that the viewer may use, or null. */
  function get(viewer: Viewer, agentId: string, name: string): Row | null {
    requireAgent(viewer, agentId);
    const named = and(ofAgent(viewer, agentId), eq(agentLabels.name, name));
    return orm.select().from(agentLabels).where(named).get() ?? null;
  }

  const find = (viewer: Viewer, agentId: string, name: string): Row => get(viewer, agentId, name) ?? throwNotFound();

  const selectRevisions = (label: Row, before: number, most: number): Revision[] =>
    orm
      .select()
      .from(agentLabelRevisions)
      .where(and(ofLabel(label, label.id), lt(agentLabelRevisions.revision, before)))
      .orderBy(desc(agentLabelRevisions.revision))
      .limit(most)
      .all();

  /** Yields the revisions before this one, newest first. */
  const revisionsBefore = (label: Row, before: number): Generator<Revision> =>
    readRows(
      (last: number, most) => selectRevisions(label, last, most),
      before,
      ({ revision }) => revision,
    );

  const currentOf = (label: Row): Revision =>
    requireValue(selectRevisions(label, label.revision + 1, 1)[0], "The revision of a label");

  /** Returns the revision to which the present one goes back: a second rollback goes further than the first. */
  const originOf = (label: Row): number => currentOf(label).restores ?? label.revision;

  const serializeLabel = (label: Row) => serialize(label, currentOf(label).reason);

  /** Returns the newest earlier revision without this version; any with null. */
  function earlier(label: Row, version: number | null): Revision | null {
    for (const revision of revisionsBefore(label, originOf(label)))
      if (version === null || !holds(revision, version)) return revision;
    return null;
  }

  function addRevision(author: Author, { id, revision }: Pick<Row, "id" | "revision">, move: Move, at: number): void {
    const { project_id, environment, actor } = author;
    const { shares, reason, restores } = move;
    const of = { project_id, environment, label_id: id, revision, actor_type: actor.type, actor_id: actor.id };
    orm
      .insert(agentLabelRevisions)
      .values({ ...of, shares, reason, restores, created_at_ms: at })
      .run();
  }

  /** Moves a label. Call inside a write. */
  function move(author: Author, label: Row, to: Move): Row {
    const at = now();
    const revision = label.revision + 1;
    const isSame = holdSameVersions(label.shares, to.shares);
    const after = rows.update(author, label.id, {
      shares: to.shares,
      rollback_on: to.rollback_on,
      revision,
      ...(!isSame && { moved_revision: revision, moved_at_ms: at }),
      updated_at_ms: at,
    });
    addRevision(author, after, to, at);
    const { agent_id, name } = label;
    const details = { agent_id, name, revision, from: label.shares, to: to.shares };
    if (to.reason === "set") audit.note(author, "label.moved", label.id, details);
    else audit.note(author, "label.rolled_back", label.id, { ...details, reason: to.reason });
    return after;
  }

  /** Call inside a write. */
  function create(author: Author, agent_id: string, name: string, to: Move): Row {
    if (labelsOf(author, agent_id).length >= limits.labels_per_agent)
      throw invalid("label", `An agent has at most ${limits.labels_per_agent} labels.`);
    const at = now();
    const [id, revision] = [newId("label", at), 1];
    const times = { moved_at_ms: at, created_at_ms: at, updated_at_ms: at };
    const { shares, rollback_on } = to;
    rows.insert(author, { id, agent_id, name, shares, rollback_on, revision, moved_revision: 1, ...times });
    addRevision(author, { id, revision }, to, at);
    audit.note(author, "label.created", id, { agent_id, name, to: shares });
    return requireValue(rows.get(author, id), "The new label");
  }

  /** Call inside a write. Sets the rule alone, which moves nothing. */
  function setRule(author: Author, label: Row, rollback_on: RollbackRule | null): Row {
    const { id, agent_id, name } = label;
    audit.note(author, "label.updated", id, { agent_id, name, changes: ["rollback_on"] });
    return rows.update(author, id, { rollback_on, updated_at_ms: now() });
  }

  /** Throws if an automatic rollback would have nowhere to go. */
  function requireWayBack(label: Row | null, shares: readonly LabelShare[]): void {
    if (shares.length > 1) return;
    const version = newerVersion(shares);
    for (const before of label ? revisionsBefore(label, label.revision + 1) : []) if (!holds(before, version)) return;
    throw invalid("rollback_on", "The label has held no other version yet, so there is nothing to roll it back to.");
  }

  /** Returns where an automatic rollback goes: to the last revision without the version, or to the other version. */
  function wayBack(label: Row, version: number): Move | null {
    const reason = "automatic_rollback";
    const before = earlier(label, version);
    if (before)
      return { shares: before.shares, rollback_on: null, reason, restores: before.restores ?? before.revision };
    const other = label.shares.find((share) => share.version !== version);
    return other
      ? { shares: [{ version: other.version, percent: 100 }], rollback_on: null, reason, restores: null }
      : null;
  }

  /** Rolls the label of a run back if its rule says so. Call inside the write with the run's end or score. */
  function judge(run: EndedLabelRun): void {
    const label = rows.get(run, run.label_id);
    const version = label && newerVersion(label.shares);
    // Runs that began before the label was moved say nothing about what it holds now.
    if (!label?.rollback_on || run.version !== version || run.revision < label.moved_revision) return;
    const record = runs.judged(
      { ...run, version, moved_revision: label.moved_revision },
      label.rollback_on.score?.name ?? null,
    );
    const cause = rollbackCause(label.rollback_on, record);
    const to = cause && wayBack(label, version);
    if (!to) return;
    const { project_id, environment } = run;
    const after = move({ project_id, environment, actor: itself }, label, to);
    announce(run, "label.rolled_back", { ...serializeLabel(after), rolled_back_version: version, cause });
  }

  return {
    get: (viewer: Viewer, agentId: string, name: string) => serializeLabel(find(viewer, agentId, name)),

    list(viewer: Viewer, agentId: string) {
      requireAgent(viewer, agentId);
      return toList(labelsOf(viewer, agentId).map(serializeLabel), false, ({ id }) => id);
    },

    /** Creates a label, or moves it. Setting what it holds already changes nothing. */
    put(author: Author & Viewer, agentId: string, name: string, input: PutLabel): Promise<AgentLabel> {
      requireAgent(author, agentId);
      if (!isLabelName(name)) throw invalid("label", labelExpected);
      const shares = sharesIn(input);
      const rollback_on = ruleIn(input);
      return db.write(() => {
        const label = get(author, agentId, name);
        requireRevision(label, input.expected_revision);
        requireVersions(input, (version) => hasVersion(author, agentId, version));
        if (rollback_on) requireWayBack(label, shares);
        const to: Move = { shares, rollback_on, reason: "set", restores: null };
        if (!label) return serializeLabel(create(author, agentId, name, to));
        if (!Bun.deepEquals(label.shares, shares)) return serializeLabel(move(author, label, to));
        if (Bun.deepEquals(label.rollback_on, rollback_on)) return serializeLabel(label);
        return serializeLabel(setRule(author, label, rollback_on));
      });
    },

    /** Sets the label to what it held before. Throws 409 if there is nothing before. */
    rollBack: (author: Author & Viewer, agentId: string, name: string, input: RollBackLabel): Promise<AgentLabel> =>
      db.write(() => {
        const label = find(author, agentId, name);
        requireRevision(label, input.expected_revision);
        const before = earlier(label, null);
        if (!before) throw new AppError("label_has_no_past", "The label has held nothing else.");
        const { shares, revision, restores } = before;
        const to: Move = { shares, rollback_on: null, reason: "rollback", restores: restores ?? revision };
        return serializeLabel(move(author, label, to));
      }),

    remove: (author: Author & Viewer, agentId: string, name: string) =>
      db.write(() => {
        const { id } = find(author, agentId, name);
        rows.remove(author, id);
        audit.note(author, "label.deleted", id, { agent_id: agentId, name });
        return { id, object: "agent_label" as const, deleted: true };
      }),

    /** Lists where the label has been, newest first. */
    async revisions(viewer: Viewer, agentId: string, name: string, limit: number, cursor: number | null) {
      const label = find(viewer, agentId, name);
      if (cursor !== null && cursor > label.revision)
        throw new AppError("invalid_cursor", "The cursor is not a revision of this label.");
      const found = revisionsBefore(label, cursor ?? label.revision + 1);
      const { data, has_more } = await fillPage(found, limit, serializeRevision);
      return toList(data, has_more, ({ revision }) => revision.toString());
    },

    /** Returns the numbers of the versions that the label holds, side by side. */
    report(viewer: Viewer, agentId: string, name: string) {
      const { project_id, environment, id, moved_revision, moved_at_ms, shares } = find(viewer, agentId, name);
      const of = { project_id, environment, label_id: id, moved_revision };
      return {
        id,
        object: "agent_label_report" as const,
        agent_id: agentId,
        name,
        since: timestamp(moved_at_ms),
        versions: shares.map((share) => ({ ...share, ...runs.report({ ...of, version: share.version }) })),
      };
    },

    judge,
    /** The same for a run that was scored. */
    judgeScored(scope: Scope, runId: string): void {
      const run = runs.of(scope, runId);
      if (run) judge(run);
    },
  };
}

const holds = ({ shares }: Pick<Revision, "shares">, version: number): boolean =>
  shares.some((share) => share.version === version);

const labelExpected = `Must have up to ${limits.label_length} lower-case letters, digits, - and _, and not digits alone.`;

/** Throws if the label was moved since the caller read it. */
function requireRevision(label: Row | null, expected: number | undefined): void {
  const revision = label?.revision ?? 0;
  if (expected !== undefined && expected !== revision)
    throw new AppError("version_conflict", `The label is at revision ${revision}.`, {
      param: "expected_revision",
      details: { revision },
    });
}

/** Returns the versions that a request gives to a label. Throws if they are none or do not fit together. */
function sharesIn({ version, split }: PutLabel): LabelShare[] {
  if (version !== undefined && split) throw invalid("split", "Give a version or a split, not both.");
  if (version !== undefined) return [{ version, percent: 100 }];
  if (!split) throw invalid("version", "A label holds a version, or splits.", "required");
  const faults: Fault[] = split.flatMap(({ percent }, i) =>
    isExactPercent(percent) ? [] : [fault(`split[${i}].percent`, "Must have two decimals at most.")],
  );
  if (split[0]?.version === split[1]?.version) faults.push(fault("split[1].version", "Must be another version."));
  const sum = percentsTogether(split);
  if (faults.length === 0 && sum !== 100) faults.push(fault("split", `Must be 100 percent together, not ${sum}.`));
  throwIfInvalid(faults);
  return inOrder(split);
}

/** Throws for versions that the agent does not have. */
function requireVersions({ version, split = [] }: PutLabel, has: (version: number) => boolean): void {
  throwIfInvalid([
    ...(version === undefined || has(version) ? [] : [fault("version", noSuch("version"))]),
    ...split.flatMap((share, i) => (has(share.version) ? [] : [fault(`split[${i}].version`, noSuch("version"))])),
  ]);
}

const defaultMinRuns = 20;

function ruleIn({ rollback_on: rule }: PutLabel): RollbackRule | null {
  if (!rule) return null;
  if (rule.failure_rate === undefined && !rule.score)
    throw invalid("rollback_on", "Must have failure_rate, score, or both.");
  const { min_runs = defaultMinRuns, ...bounds } = rule;
  return { ...bounds, min_runs };
}

/** Shows one version as a version, and several as a split. */
function shownShares(shares: LabelShare[]) {
  const [first, ...others] = shares;
  return {
    version: others.length > 0 ? null : requireValue(first, "The version of a label").version,
    split: others.length > 0 ? shares : null,
  };
}

const serialize = (row: Row, reason: LabelReason) => ({
  id: row.id,
  object: "agent_label" as const,
  agent_id: row.agent_id,
  name: row.name,
  ...shownShares(row.shares),
  rollback_on: row.rollback_on,
  revision: row.revision,
  reason,
  moved_at: timestamp(row.moved_at_ms),
  created_at: timestamp(row.created_at_ms),
  updated_at: timestamp(row.updated_at_ms),
  project_id: row.project_id,
  environment: row.environment,
});

const serializeRevision = (row: Revision) => ({
  id: row.label_id,
  object: "agent_label_revision" as const,
  revision: row.revision,
  ...shownShares(row.shares),
  reason: row.reason,
  restores: row.restores,
  actor: { type: row.actor_type, id: row.actor_id },
  created_at: timestamp(row.created_at_ms),
});
