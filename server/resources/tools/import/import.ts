import { Value } from "@sinclair/typebox/value";
import { stopping } from "../../../domain/error-messages.ts";
import { AppError } from "../../../domain/errors.ts";
import {
  importLimits,
  type PlannedOperation,
  type PlannedScheme,
  type PlannedTool,
  type Refusal,
} from "../../../domain/openapi-import.ts";
import { type Environment, nameOf, type Scope } from "../../../domain/scope.ts";
import type { Viewer } from "../../../http/auth.ts";
import { invalid } from "../../../http/errors.ts";
import { ownValue } from "../../../lib/collections.ts";
import { createYielder } from "../../../lib/cooperative-yield.ts";
import type { Egress } from "../../../lib/egress.ts";
import { EgressError } from "../../../lib/egress.ts";
import { sha256 } from "../../../lib/hash.ts";
import type { OpenApiReader } from "../../../runtime/sandbox/openapi-reader.ts";
import type { OpenApiOutcome } from "../../../runtime/sandbox/openapi-task.ts";
import type { Author } from "../../../storage/db/audit.ts";
import { definitionOf } from "../row.ts";
import { CreateTool } from "../schema.ts";
import type { ToolChange, ToolStore } from "../store.ts";
import {
  type Auth,
  alternativeOf,
  checkAuth,
  secretHolds,
  suggestedSecret,
  takesOAuthClient,
  valuesOf,
} from "./auth.ts";
import { chosenOperations, tooManyOperations } from "./choose-operations.ts";
import { differencesOf, hashOf, type ImportedRow, importedRows, matchRows } from "./differences.ts";
import { fetchDocument } from "./fetch-document.ts";
import type { ImportedOperation, ImportTools, ToolImport } from "./schema.ts";

interface ImportOptions {
  tools: Pick<ToolStore, "allRows" | "applyAll" | "valuesDiffer">;
  reader: Pick<OpenApiReader, "read">;
  egress: (environment: Environment) => Egress;
  hasSecret(scope: Scope, name: string): boolean;
  hasOAuthClient(scope: Scope, id: string): boolean;
}

/** Schemas and mappings of an answer, in UTF-16 code units. */
const detailLength = 2 * 1024 * 1024;
/** Distinct servers whose addresses are checked; a document could name thousands. */
const serversMost = 20;
const removedMost = 1000;

type Read = Extract<OpenApiOutcome, { document: unknown }>;

/** An operation with its tool and what an import makes of it. */
interface Entry {
  planned: PlannedOperation;
  existing: ImportedRow | undefined;
  refusal: Refusal | null;
  isChosen: boolean;
  changes: string[];
  edited: boolean;
  auth: string[] | null;
  /** Null: nothing is to be stored. */
  change: ToolChange | null;
}

/** Imports the operations of OpenAPI documents as HTTP tools. */
export function createToolImport({ tools, reader, egress, hasSecret, hasOAuthClient }: ImportOptions) {
  async function contentOf(scope: Scope, { url, document }: ImportTools, signal: AbortSignal): Promise<Uint8Array> {
    if ((url === undefined) === (document === undefined))
      throw invalid(url === undefined ? "document" : "url", "Give the document, or its address.", "required");
    if (url !== undefined) {
      const { environment } = scope;
      return fetchDocument(url, { egress: egress(environment), environment, signal });
    }
    const bytes = Buffer.from(document ?? "");
    if (bytes.length > importLimits.document_bytes)
      throw invalid("document", `Must have at most ${importLimits.document_bytes} bytes.`);
    return bytes;
  }

  async function read(scope: Scope, bytes: Uint8Array, order: ImportTools, signal: AbortSignal): Promise<Read> {
    const { url = null, server = null, prefix = "" } = order;
    if (server !== null && !/^https?:\/\/[^\s{}?#@]+$/i.test(server))
      throw invalid("server", "Must be an address such as https://api.example.com/v1, without login and query.");
    const outcome = await reader.read(bytes, { document_url: url, server, prefix }, signal, nameOf(scope));
    if ("document" in outcome) return outcome;
    const { error, unavailable } = outcome;
    if (unavailable === "stopped") throw new AppError("shutting_down", stopping, { retryAfter: 5 });
    if (unavailable) throw new AppError("unsupported_media_type", error);
    throw invalid(url === null ? "document" : "url", error);
  }

  /** Returns why addresses of some servers cannot be called, by their origin. */
  async function refusedOrigins(scope: Scope, operations: readonly PlannedOperation[]): Promise<Map<string, string>> {
    const origins = [...new Set(operations.flatMap(({ tool }) => (tool ? [originOf(tool.url)] : [])))];
    const refused = new Map<string, string>();
    for (const origin of origins.slice(serversMost))
      refused.set(origin, `The document names more than ${serversMost} servers.`);
    const guard = egress(scope.environment);
    for (const origin of origins.slice(0, serversMost)) {
      const message = await guard.check(origin, { httpsOnly: scope.environment === "live" }).then(
        () => null,
        (error: unknown) => {
          if (!(error instanceof EgressError)) throw error;
          // A name that does not resolve now may resolve later.
          return error.code === "dns_failed" || error.code === "dns_timeout" ? null : error.message;
        },
      );
      if (message !== null) refused.set(origin, message);
    }
    return refused;
  }

  return async function importTools(
    scope: Author & Viewer,
    order: ImportTools,
    signal: AbortSignal,
  ): Promise<ToolImport> {
    const { dry_run = false, auth = {} } = order;
    const bytes = await contentOf(scope, order, signal);
    const hash = sha256(bytes);
    if (order.sha256 !== undefined && order.sha256 !== hash)
      throw new AppError(
        "document_changed",
        "The document has changed since its hash was taken. Nothing was imported.",
        {
          param: "sha256",
          details: { sha256: hash },
        },
      );
    const { document, operations } = await read(scope, bytes, order, signal);
    const source = order.source ?? order.url ?? (document.title || "openapi");
    const isChosen = chosenOperations(operations, order);
    checkAuth(auth, document.security_schemes, {
      hasSecret: (name) => hasSecret(scope, name),
      hasOAuthClient: (id) => hasOAuthClient(scope, id),
    });
    const refused = await refusedOrigins(scope, operations);

    const rest = createYielder();
    const rows = tools.allRows(scope);
    const imported = importedRows(rows, source);
    const matched = matchRows(operations, imported);
    const mine = new Set([...matched.values()].map(({ row }) => row.id));
    const taken = new Set(rows.filter(({ id }) => !mine.has(id)).map(({ name }) => name));
    const entries: Entry[] = [];
    for (const planned of operations) {
      await rest();
      const existing = matched.get(planned);
      const { tool } = planned;
      const names = alternativeOf(planned.security, document.security_schemes, auth);
      const entry: Entry = {
        planned,
        existing,
        refusal: planned.refusal ?? refusalOf(planned, existing, refused, taken),
        isChosen: isChosen(planned),
        changes: [],
        edited: false,
        auth: names,
        change: null,
      };
      if (tool && !entry.refusal) decide(entry, tool, names ?? []);
      entries.push(entry);
    }

    /** Sets what differs, and what is to be stored. */
    function decide(entry: Entry, tool: PlannedTool, names: readonly string[]): void {
      const { existing, planned } = entry;
      const { operation, operation_id } = planned;
      const { oauth_client_id, ...values } = valuesOf(names, document.security_schemes, auth);
      const token = oauth_client_id === undefined ? null : { type: "oauth" as const, oauth_client_id };
      const openapi = { source, sha256: hash, operation, operation_id, fields_sha256: hashOf(tool) };
      const { name, ...fields } = tool;
      if (!existing) {
        entry.change = { create: { ...fields, name, type: "http", ...values, ...(token && { auth: token }) }, openapi };
        return;
      }
      const before = definitionOf(existing.row).http;
      const isMoved = originOf(before?.url ?? "") !== originOf(tool.url);
      const differing = tools.valuesDiffer(existing.row, { ...values, auth: token }, isMoved);
      const { changes, edited } = differencesOf(existing, tool);
      entry.edited = edited;
      entry.changes = [...changes, ...differing.names];
      if (entry.changes.length > 0)
        entry.change = { update: existing.row.id, input: { ...fields, ...differing.input }, openapi };
    }

    const chosen = entries.filter((each) => each.isChosen && each.change !== null);
    if (!dry_run && chosen.length > importLimits.tools)
      throw tooManyOperations(
        order,
        chosen.map(({ planned }) => planned),
      );
    const ids = await tools.applyAll(
      scope,
      chosen.flatMap(({ change }) => (change ? [change] : [])),
      dry_run,
    );
    const idOf = new Map(chosen.map((entry, index) => [entry, ids[index] ?? null]));
    const gone = imported.filter(({ row }) => !mine.has(row.id));
    const shown = shownOperations(
      entries,
      (entry) => entry.existing?.row.id ?? (dry_run ? null : (idOf.get(entry) ?? null)),
    );
    return {
      object: "tool_import",
      dry_run,
      source,
      sha256: hash,
      ...document,
      security_schemes: document.security_schemes.map((scheme) => shownScheme(scheme, auth, document.title)),
      operations: shown,
      removed: gone
        .slice(0, removedMost)
        .map(({ row, origin }) => ({ tool_id: row.id, name: row.name, operation: origin.operation })),
      counts: countsOf(shown, gone.length),
    };
  };
}

const originOf = (url: string): string => URL.parse(url)?.origin ?? url;

function refusalOf(
  { tool }: PlannedOperation,
  existing: ImportedRow | undefined,
  refused: ReadonlyMap<string, string>,
  taken: ReadonlySet<string>,
): Refusal | null {
  if (!tool) return { code: "operation_invalid", message: "It could not be read." };
  const message = refused.get(originOf(tool.url));
  if (message !== undefined) return { code: "url_not_allowed", message };
  if (tool.url.length > 2048) return { code: "path_invalid", message: "Its URL is longer than 2048 characters." };
  if (!Value.Check(CreateTool, { ...tool, type: "http" }))
    return { code: "operation_invalid", message: "It does not make a valid tool." };
  if (!existing && taken.has(tool.name))
    return { code: "name_taken", message: `There is a tool ${tool.name} already: rename it, or give a prefix.` };
  return null;
}

/** Chosen operations are shown in detail first, as far as there is room. */
function shownOperations(entries: readonly Entry[], idOf: (entry: Entry) => string | null): ImportedOperation[] {
  let room = detailLength;
  const detailed = new Set<Entry>();
  for (const entry of [...entries.filter((each) => each.isChosen), ...entries.filter((each) => !each.isChosen)]) {
    const { tool } = entry.planned;
    if (!tool) continue;
    room -= JSON.stringify(tool.parameters).length + JSON.stringify(tool.request).length;
    if (room < 0) break;
    detailed.add(entry);
  }
  return entries.map((entry) => {
    const { planned, existing, refusal, isChosen, change } = entry;
    const { tool, ...others } = planned;
    const done = existing ? (change ? "updated" : "unchanged") : "created";
    const difference = refusal ? "refused" : existing ? (change ? "changed" : "unchanged") : "added";
    return {
      ...others,
      difference,
      changes: entry.changes,
      edited: entry.edited,
      chosen: isChosen,
      outcome: isChosen && !refusal ? done : null,
      tool_id: idOf(entry),
      tool:
        tool && !refusal
          ? {
              ...tool,
              name: existing?.row.name ?? tool.name,
              ...(!detailed.has(entry) && { parameters: null, request: null }),
            }
          : null,
      refusal,
      auth: entry.auth,
    };
  });
}

const shownScheme = (scheme: PlannedScheme, auth: Auth, title: string): ToolImport["security_schemes"][number] => ({
  ...scheme,
  secret: ownValue(auth, scheme.name)?.secret ?? null,
  oauth_client_id: ownValue(auth, scheme.name)?.oauth_client_id ?? null,
  takes_oauth_client: takesOAuthClient(scheme),
  secret_holds: secretHolds(scheme),
  suggested_secret: suggestedSecret(title, scheme.name),
});

function countsOf(operations: readonly ImportedOperation[], removed: number): ToolImport["counts"] {
  const differing = (name: ImportedOperation["difference"]) =>
    operations.filter(({ difference }) => difference === name).length;
  const done = (name: ImportedOperation["outcome"]) => operations.filter(({ outcome }) => outcome === name).length;
  return {
    operations: operations.length,
    added: differing("added"),
    changed: differing("changed"),
    unchanged: differing("unchanged"),
    refused: differing("refused"),
    removed,
    created: done("created"),
    updated: done("updated"),
  };
}
