import { upgradeFromTwoToThree } from "@scalar/openapi-upgrader/2.0-to-3.0";
import {
  type ImportChoices,
  importLimits,
  type PlannedDocument,
  type PlannedOperation,
} from "../../domain/openapi-import.ts";
import { isObject } from "../../lib/json.ts";
import { cutText } from "./cut-text.ts";
import { DocumentError, OperationRefused } from "./document-error.ts";
import { type Fields, readDocument } from "./read-document.ts";
import { isMethod, isSupported, namesInPath, toolOf } from "./read-operation.ts";
import { type FoundParameter, readParameters } from "./read-parameters.ts";
import { readSchemes, readSecurity } from "./read-security.ts";
import { plainAddress, readServers, serverAddress } from "./read-servers.ts";
import { dereference, itemsIn, membersIn, textIn } from "./references.ts";
import { toolNames } from "./tool-names.ts";

interface Located {
  path: string;
  pathItem: Fields;
  method: string;
  fields: unknown;
}

/**
 * Reads an OpenAPI document of version 3.x, or of 2.0. Calls `each` with every operation, and returns facts of the
 * document. Throws `DocumentError`. Use it in a jailed process only: a document is untrusted.
 */
export function readOpenApi(
  bytes: Uint8Array,
  choices: ImportChoices,
  each: (operation: PlannedOperation) => void,
): PlannedDocument {
  const { document, version } = inVersionThree(readDocument(bytes));
  const info = isObject(document.info) ? document.info : {};
  const servers = serversOf(document);
  const server = serverOf(servers, choices);
  const schemes = readSchemes(document);
  const found = operationsOf(document);
  const named = found.map(({ path, method, fields }) => ({
    operation: operationName(method, path),
    operation_id: isObject(fields) ? textIn(fields, "operationId").slice(0, 256) || null : null,
  }));
  const names = toolNames(named, choices.prefix);
  for (const [index, { pathItem, path, method, fields }] of found.entries()) {
    const { operation, operation_id } = named[index]!;
    const known = isObject(fields) ? fields : {};
    const notes = new Set<string>();
    const note = (text: string) => void notes.add(text);
    const planned: PlannedOperation = {
      operation,
      operation_id,
      tags: itemsIn(known, "tags")
        .filter((tag) => typeof tag === "string")
        .slice(0, 20)
        .map((tag) => tag.slice(0, 128)),
      deprecated: known.deprecated === true,
      tool: null,
      refusal: null,
      notes: [],
      security: readSecurity(document, known),
    };
    try {
      if (!isObject(fields)) throw new OperationRefused("operation_invalid", "It is no object.");
      if (!isSupported(method))
        throw new OperationRefused("method_unsupported", `The method ${method} is not supported.`);
      const address = addressOf(pathItem, fields, { server, servers }, choices, note);
      const parameters = withPathNames(path, readParameters(document, pathItem, fields, schemes, note), note);
      const name = names[index]!;
      planned.tool = toolOf({ document, fields, method, path, server: address, parameters }, name, note);
    } catch (error) {
      planned.refusal = refusalOf(error);
    }
    planned.notes = [...notes].slice(0, 20).map((text) => text.slice(0, 300));
    each(planned);
  }
  return {
    title: cutText(textIn(info, "title"), 200),
    version: cutText(textIn(info, "version"), 64),
    openapi: version,
    servers,
    server,
    security_schemes: schemes,
  };
}

function refusalOf(error: unknown): PlannedOperation["refusal"] {
  if (error instanceof OperationRefused) return { code: error.code, message: error.message.slice(0, 500) };
  if (error instanceof RangeError) return { code: "schema_too_large", message: "Its schemas nest too deep." };
  throw error;
}

/** Returns the document in version 3, and its own version. */
function inVersionThree(document: Fields): { document: Fields; version: string } {
  const [openapi, swagger] = [versionOf(document.openapi), versionOf(document.swagger)];
  if (openapi !== null) {
    if (/^3(\.|$)/.test(openapi)) return { document, version: openapi };
    throw new DocumentError(`The version ${openapi} of OpenAPI is not supported: 3.0 and 3.1 are.`);
  }
  if (swagger === null)
    throw new DocumentError("This is no OpenAPI document: it has neither `openapi` nor `swagger` at its top.");
  if (!/^2(\.|$)/.test(swagger)) throw new DocumentError(`The version ${swagger} of Swagger is not supported: 2.0 is.`);
  const upgraded: unknown = upgradeFromTwoToThree(document);
  if (!isObject(upgraded)) throw new DocumentError("The document cannot be converted from version 2.0.");
  return { document: upgraded, version: "2.0" };
}

const versionOf = (value: unknown): string | null =>
  typeof value === "string" || typeof value === "number" ? String(value).slice(0, 16) : null;

const operationName = (method: string, path: string): string => `${method} ${path.slice(0, 1000)}`;

function operationsOf(document: Fields): Located[] {
  if (!isObject(document.paths)) throw new DocumentError("The document has no paths.");
  const found = membersIn(document, "paths")
    .filter(([path]) => path.startsWith("/"))
    .flatMap(([path, item]) => ofPath(document, path, item));
  if (found.length === 0) throw new DocumentError("The document has no operations.");
  if (found.length > importLimits.operations)
    throw new DocumentError(`The document has ${found.length} operations, more than ${importLimits.operations}.`);
  return found;
}

/** A path whose reference leads nowhere is one operation, which says so. */
function ofPath(document: Fields, path: string, item: unknown): Located[] {
  try {
    const pathItem = dereference(document, item, "path");
    return Object.entries(pathItem)
      .filter(([name]) => isMethod(name))
      .map(([name, fields]) => ({ path, pathItem, method: name.toUpperCase(), fields }));
  } catch (error) {
    if (!(error instanceof OperationRefused)) throw error;
    const unread = isObject(item) && "$ref" in item ? { parameters: [{ $ref: item.$ref }] } : null;
    return [{ path, pathItem: {}, method: "GET", fields: unread }];
  }
}

/** Servers of the document; some name them at each path only. */
function serversOf(document: Fields): PlannedDocument["servers"] {
  const own = readServers(document);
  const [first] = membersIn(document, "paths");
  return own.length === 0 && first && isObject(first[1]) ? readServers(first[1]) : own;
}

function serverOf(servers: PlannedDocument["servers"], { server, document_url }: ImportChoices): string | null {
  if (server !== null) return plainAddress(server, null);
  for (const each of servers) {
    const address = serverAddress(each, document_url);
    if (address !== null) return address;
  }
  return servers.length === 0 && document_url !== null ? plainAddress("/", document_url) : null;
}

/** Server of an operation: its own, that of its path, or that of the document. */
function addressOf(
  pathItem: Fields,
  fields: Fields,
  { server, servers }: Pick<PlannedDocument, "server" | "servers">,
  { document_url }: ImportChoices,
  note: (text: string) => void,
): string {
  const addressesOf = (each: PlannedDocument["servers"]) =>
    each.flatMap((one) => serverAddress(one, document_url) ?? []);
  const own = addressesOf([...readServers(fields), ...readServers(pathItem)]);
  // Some documents repeat their servers for each path: the one that was chosen replaces them.
  const general = new Set(addressesOf(servers));
  const [address = server] = own.filter((each) => !general.has(each));
  if (address === null)
    throw new OperationRefused(
      "server_unknown",
      "The document does not say at which address it is served: give `server`.",
    );
  if (server !== null && new URL(address).origin !== new URL(server).origin)
    note(`It is at another server than the others: ${new URL(address).origin}.`);
  return address;
}

/** Adds the names that a path has in braces and nothing declares, and leaves out declared ones that it has not. */
function withPathNames(
  path: string,
  parameters: readonly FoundParameter[],
  note: (text: string) => void,
): FoundParameter[] {
  const names = namesInPath(path);
  const declared = new Set(parameters.filter((each) => each.in === "path").map(({ name }) => name));
  const missing = names.filter((name) => !declared.has(name));
  for (const name of missing) note(`{${name.slice(0, 64)}} in its path is not declared: it is taken as a text.`);
  return [
    ...missing.map((name) => ({
      name,
      in: "path" as const,
      required: true,
      description: "",
      schema: { type: "string" },
    })),
    ...parameters.filter((each) => {
      const isThere = each.in !== "path" || names.includes(each.name);
      if (!isThere)
        note(`Not sent: the parameter ${JSON.stringify(each.name.slice(0, 64))}, which its path does not have.`);
      return isThere;
    }),
  ];
}
