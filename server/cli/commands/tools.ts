import { readFileSync, statSync } from "node:fs";
import { isId } from "../../domain/ids.ts";
import { importLimits } from "../../domain/openapi-import.ts";
import type { ImportTools, ToolImport } from "../../resources/tools/import/schema.ts";
import { type ClientFlags, openClient } from "./client-options.ts";
import { exitCodes, usageError } from "./exit-code.ts";
import { oneLine, print } from "./print.ts";

export interface ImportFlags extends ClientFlags {
  operations?: string[];
  tags?: string[];
  sha256?: string;
  dryRun?: boolean;
  server?: string;
  auth?: string[];
  prefix?: string;
  source?: string;
}

/** Imports a document. Prints a line for each operation that is chosen, and one for each tool that lost its own. */
export async function importTools(document: string, { dryRun = false, ...flags }: ImportFlags): Promise<void> {
  const { operations, tags, server, prefix, source, sha256 } = flags;
  const body: ImportTools = {
    ...(/^https?:\/\//i.test(document) ? { url: document } : { document: readText(document) }),
    ...(operations && { operations }),
    ...(tags && { tags }),
    ...(server !== undefined && { server }),
    ...(prefix !== undefined && { prefix }),
    ...(source !== undefined && { source }),
    ...(sha256 !== undefined && { sha256 }),
    ...(flags.auth && { auth: authOf(flags.auth) }),
    dry_run: dryRun,
  };
  const client = await openClient(flags);
  const answer = await client.post<ToolImport>("/tools/import", body);
  const { created, updated } = answer.counts;
  if (dryRun && created + updated > 0) process.exitCode = exitCodes.differs;
  print(flags.json, answer, () => [...linesOf(answer), summaryOf(answer)].join("\n"));
}

function readText(path: string): string {
  try {
    if (statSync(path).size > importLimits.document_bytes)
      throw usageError(`${path} is larger than ${importLimits.document_bytes} bytes.`);
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    if (error instanceof TypeError) throw usageError(`${path} is not a text in UTF-8.`);
    if (!(error instanceof Error) || !("code" in error)) throw error;
    throw usageError(`${path} cannot be read: ${error.message}`);
  }
}

function authOf(pairs: readonly string[]): NonNullable<ImportTools["auth"]> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const end = pair.lastIndexOf("=");
      if (end < 1)
        throw usageError(
          `--auth takes a scheme and a secret, or an OAuth client's id, such as token=GITHUB_TOKEN, not "${pair}".`,
        );
      const [scheme, given] = [pair.slice(0, end), pair.slice(end + 1)];
      return [scheme, isId("oauth_client", given) ? { oauth_client_id: given } : { secret: given }];
    }),
  );
}

const marks = { created: "+", updated: "~", unchanged: "=" };

function linesOf({ operations, removed }: ToolImport): string[] {
  const chosen = operations.filter((each) => each.chosen);
  return [
    ...chosen.flatMap(({ outcome, operation, refusal, tool, changes, edited, notes, auth }) => {
      const head = outcome
        ? `${marks[outcome]} ${tool?.name}: ${operation}${changes.length > 0 ? ` (${changes.join(", ")})` : ""}`
        : `! ${operation}: ${refusal?.message}`;
      const all = [
        ...notes,
        ...(edited && outcome === "updated" ? ["It was changed by hand since it was imported."] : []),
        ...(auth === null && outcome ? ["It needs a secret or an OAuth client: see --auth."] : []),
      ];
      return [oneLine(head), ...all.map((note) => `    ${oneLine(note)}`)];
    }),
    ...removed.map(({ name, operation }) => oneLine(`- ${name}: ${operation} is no longer in the document`)),
  ];
}

function summaryOf({ counts, dry_run, operations, security_schemes, sha256 }: ToolImport): string {
  const { created, updated } = counts;
  const refused = operations.filter(({ chosen, refusal }) => chosen && refusal !== null).length;
  const unchanged = operations.filter(({ outcome }) => outcome === "unchanged").length;
  const sum = dry_run
    ? `${created} to create, ${updated} to update, ${unchanged} unchanged, ${refused} refused. Nothing was changed.`
    : `${created} created, ${updated} updated, ${unchanged} unchanged, ${refused} refused.`;
  const missing = security_schemes.filter(
    ({ name, secret, oauth_client_id, secret_holds }) =>
      secret === null &&
      oauth_client_id === null &&
      secret_holds !== null &&
      operations.some(({ auth, security }) => auth === null && security.flat().includes(name)),
  );
  const hints = missing.map(({ name, secret_holds, suggested_secret, takes_oauth_client }) =>
    oneLine(
      `For calls that need ${name}: --auth ${name}=${suggested_secret}. The secret holds: ${secret_holds}` +
        (takes_oauth_client ? ` Or an OAuth client, which gets tokens: --auth ${name}=oac_…` : ""),
    ),
  );
  const isTooMany = created + updated > importLimits.tools;
  return [
    sum,
    ...(isTooMany
      ? [`An import takes at most ${importLimits.tools} of them: import them in parts, by --tags or --operations.`]
      : []),
    ...(dry_run ? [`To import exactly this document: --sha256 ${sha256}`] : []),
    ...hints,
  ].join("\n");
}
