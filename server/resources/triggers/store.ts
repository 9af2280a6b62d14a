import type { AgentChoice } from "../../domain/agent-label.ts";
import { AppError } from "../../domain/errors.ts";
import { isId, newId } from "../../domain/ids.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Variable, VariableValues } from "../../domain/variable.ts";
import { agentConditions, requireAgent, type Viewer } from "../../http/auth.ts";
import { fault, invalid, throwIfInvalid } from "../../http/errors.ts";
import { listPage, type Page } from "../../http/page.ts";
import { nameIssues } from "../../http/validate-name.ts";
import type { Seal } from "../../lib/seal.ts";
import type { Author, StoreBase } from "../../storage/db/audit.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import { eventTriggers } from "../../storage/db/schema.ts";
import { columnsOf, createReader, createScopedTable } from "../../storage/db/scoped-table.ts";
import { definitionFaults } from "./definition-faults.ts";
import { sampleVariables } from "./event-variables.ts";
import { applyInput, blankRow, choiceOf, type Definition, definitionOf, type Row, serializeTrigger } from "./row.ts";
import type { CreateTrigger, RotateTriggerSecret, UpdateTrigger } from "./schema.ts";
import { isSendersSecret, newTriggerSecret, openTriggerSecrets, sealTriggerSecrets, secretFault } from "./secrets.ts";

export interface TriggerStoreOptions extends StoreBase {
  seal: Seal;
  /** Returns the agent and the version that a request names. Throws unless each of them exists. */
  resolveAgent: (viewer: Viewer, reference: AgentNamed) => AgentChoice;
  /**
   * Returns the variables of the agent and of those that its runs may hand over to, its own first. `key` chooses between
   * the versions of labels that split.
   */
  variablesOf: (viewer: Viewer, agent: AgentChoice, key: string) => readonly Variable[];
  /** Throws if a run of this agent could not have such a user or such values of variables. */
  checkRun: (viewer: Viewer, agent: AgentChoice, run: CheckedRun) => void;
  /** Returns the public address of a trigger. */
  urlOf: (trigger: Pick<Row, "id" | "project_id">) => string;
}

type AgentNamed = { agent_id: string } & Partial<Pick<Definition, "version" | "label">>;

interface CheckedRun {
  overrides: null;
  variables: VariableValues;
  user_id: string | null;
  session_id: null;
}

export type TriggerStore = ReturnType<typeof createTriggerStore>;

const maxTriggers = 500;
const overlap_seconds = 24 * 3600;

export function createTriggerStore({
  db,
  audit,
  seal,
  resolveAgent,
  variablesOf,
  checkRun,
  urlOf,
  now = Date.now,
}: TriggerStoreOptions) {
  const rows = createScopedTable(db, eventTriggers);
  const rowOf = createReader(eventTriggers) as (raw: object) => Row;
  const selectById = db.sqlite.query<object, [string]>(`SELECT ${columnsOf(eventTriggers)} FROM triggers WHERE id = ?`);
  const count = db.sqlite.query<{ n: number }, [string, string]>(
    "SELECT count(*) AS n FROM triggers WHERE project_id = ? AND environment = ?",
  );
  const serialize = (row: Row) => serializeTrigger(row, urlOf(row));

  /** Finds a trigger. Throws for one of another scope, or of an agent that the viewer may not use. */
  function find(viewer: Viewer, id: string): Row {
    const row = rows.find(viewer, id);
    requireAgent(viewer, row.agent_id);
    return row;
  }

  /** Throws with every fault of a new or changed trigger. */
  function check(viewer: Viewer, row: Pick<Row, "agent_id" | "definition" | "verification">, input: UpdateTrigger) {
    const definition = definitionOf(row);
    throwIfInvalid([
      ...nameIssues(input.name),
      ...definitionFaults(definition),
      ...(input.secret_header && row.verification !== "shared_secret"
        ? [fault("secret_header", "Only a trigger with a shared secret has a header for it.")]
        : []),
    ]);
    const { agent_id, version, label, user, variables } = input;
    if ([agent_id, version, label, user, variables].every((given) => given === undefined)) return;
    const agent = choiceOf(row);
    const user_id = definition.user === null ? null : "user";
    const declared = variablesOf(viewer, agent, user_id ?? "");
    const samples = sampleVariables(definition.variables ?? {}, declared);
    checkRun(viewer, agent, { overrides: null, variables: samples, user_id, session_id: null });
  }

  /** Returns the input with the agent that it names by its id, and with the version that belongs to it. */
  function withAgent<Input extends UpdateTrigger>(viewer: Viewer, input: Input, before: Row | null): Input {
    const { agent_id = before?.agent_id, version, label } = input;
    const isNamed = input.agent_id !== undefined || version !== undefined || label !== undefined;
    return agent_id === undefined || !isNamed
      ? input
      : { ...input, ...resolveAgent(viewer, { agent_id, version: version ?? null, label: label ?? null }) };
  }

  /** The response is the only place that shows a secret that was made here. */
  async function create(author: Author & Viewer, { verification, secret, ...given }: CreateTrigger) {
    const input = withAgent(author, given, null);
    const at = now();
    const fields = applyInput(blankRow(author, { id: newId("trigger", at), at, verification }), input);
    check(author, fields, input);
    const own = secret === undefined ? newTriggerSecret(verification) : checkedSecret(verification, secret);
    const sealed = sealTriggerSecrets(seal, fields, { secret: own, previous: null });
    const row = await db.write(() => {
      if (onlyRow(count.get(author.project_id, author.environment)).n >= maxTriggers)
        throw new AppError("validation_failed", `There are already ${maxTriggers} triggers, which is the limit.`);
      const { name, agent_id, enabled } = fields;
      audit.note(author, "trigger.created", fields.id, { name, agent_id, verification, enabled });
      return rows.insert(author, { ...fields, sealed, has_secret: own !== null });
    });
    return { ...serialize(row), ...(secret === undefined && own !== null && { secret: own }) };
  }

  async function update(author: Author & Viewer, id: string, given: UpdateTrigger) {
    const known = find(author, id); // Checked first: an unknown trigger is a 404, whatever the body says.
    const input = withAgent(author, given, known);
    check(author, applyInput(known, input), input);
    const row = await db.write(() => {
      const after = applyInput(find(author, id), input);
      audit.note(author, "trigger.updated", id, { name: after.name, changes: Object.keys(given) });
      const { name, agent_id, secret_header, enabled, rate_limit_per_minute, metadata, definition } = after;
      const columns = { name, agent_id, secret_header, enabled, rate_limit_per_minute, metadata, definition };
      return rows.update(author, id, { ...columns, updated_at_ms: now() });
    });
    return serialize(row);
  }

  /** Replaces the secret; both are valid until the overlap ends. The response is the only place that shows a new one. */
  async function rotate(author: Author & Viewer, id: string, { secret, overlap_seconds: given }: RotateTriggerSecret) {
    const { verification } = find(author, id);
    if (secret === undefined && isSendersSecret(verification))
      throw invalid("secret", `The secret is made by the sender (${verification}). Copy it from there.`, "required");
    const own = secret === undefined ? newTriggerSecret(verification) : checkedSecret(verification, secret);
    const overlap = given ?? overlap_seconds;
    const row = await db.write(() => {
      const before = find(author, id);
      const { secret: previous } = openTriggerSecrets(seal, before, before.sealed);
      const overlaps = overlap > 0 && previous !== null;
      const sealed = sealTriggerSecrets(seal, before, { secret: own, previous: overlaps ? previous : null });
      audit.note(author, "trigger.secret_rotated", id, { name: before.name, overlap_seconds: overlap });
      const previous_until_ms = overlaps ? now() + overlap * 1000 : null;
      return rows.update(author, id, { sealed, has_secret: true, previous_until_ms, updated_at_ms: now() });
    });
    return { ...serialize(row), ...(secret === undefined && own !== null && { secret: own }) };
  }

  return {
    create,
    update,
    rotate,
    find,
    get: (viewer: Viewer, id: string) => serialize(find(viewer, id)),
    list: (viewer: Viewer, page: Page) =>
      listPage(
        db,
        { table: eventTriggers, kind: "trigger", scope: viewer, page, where: agentConditions(viewer, "agent_id") },
        serialize,
      ),
    /** Deletes a trigger. Runs that it started continue. */
    remove: (author: Author & Viewer, id: string) =>
      db.write(() => {
        const { name, agent_id } = find(author, id);
        rows.remove(author, id);
        audit.note(author, "trigger.deleted", id, { name, agent_id });
        return { id, object: "trigger" as const, deleted: true };
      }),
    /** Returns the trigger of a public address, of any project; null if there is none. */
    ofAddress(id: string): Row | null {
      const raw = isId("trigger", id) ? selectById.get(id) : null;
      return raw && rowOf(raw);
    },
    /** Returns the secrets that are valid at this time, newest first. */
    secretsOf(row: Pick<Row, keyof Scope | "id" | "sealed" | "previous_until_ms">, at: number): string[] {
      const { secret, previous } = openTriggerSecrets(seal, row, row.sealed);
      const overlaps = row.previous_until_ms !== null && at < row.previous_until_ms;
      return [secret, overlaps ? previous : null].filter((each) => each !== null);
    },
  };
}

// People copy secrets with the line end.
function checkedSecret(verification: Row["verification"], given: string): string {
  const secret = given.trim();
  const problem = secretFault(verification, secret);
  if (problem) throw invalid("secret", problem);
  return secret;
}
