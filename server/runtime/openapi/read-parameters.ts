import { isExploded, type RequestParameter, stylesOf } from "../../domain/http-request.ts";
import type { PlannedScheme } from "../../domain/openapi-import.ts";
import { checkHeaders, EgressError } from "../../lib/egress.ts";
import { isObject } from "../../lib/json.ts";
import { OperationRefused } from "./document-error.ts";
import type { Fields } from "./read-document.ts";
import { dereference, itemsIn, membersIn, textIn } from "./references.ts";

/** A parameter of an operation with its schema, before it has a name as an argument. */
export interface FoundParameter {
  name: string;
  in: RequestParameter["in"];
  required: boolean;
  description: string;
  schema: unknown;
  style?: RequestParameter["style"];
  explode?: boolean;
  allow_reserved?: true;
}

const parametersMost = 300;
const places: RequestParameter["in"][] = ["path", "query", "header", "cookie"];

/** Headers that OpenAPI describes elsewhere, or that the server sets on every call. */
const otherHeaders = new Set([
  "accept",
  "content-type",
  "authorization",
  "cookie",
  "idempotency-key",
  "x-run-id",
  "x-tool-call-id",
  "webhook-id",
  "webhook-timestamp",
  "webhook-signature",
]);

/** Parameters of an operation and its path, those of the path first. The operation's replace those of the path. */
export function readParameters(
  document: Fields,
  path: Fields,
  operation: Fields,
  schemes: readonly PlannedScheme[],
  note: (text: string) => void,
): FoundParameter[] {
  const all = [...itemsIn(path, "parameters"), ...itemsIn(operation, "parameters")];
  if (all.length > parametersMost)
    throw new OperationRefused("schema_too_large", `It has more than ${parametersMost} parameters.`);
  const found = new Map<string, FoundParameter>();
  for (const each of all) {
    const parameter = parameterOf(dereference(document, each, "parameter"), note);
    if (!parameter) continue;
    const key = `${parameter.in} ${parameter.in === "header" ? parameter.name.toLowerCase() : parameter.name}`;
    if (!isOfScheme(parameter, schemes) && isSendable(parameter, note)) found.set(key, parameter);
  }
  return [...found.values()].toSorted((a, b) => places.indexOf(a.in) - places.indexOf(b.in));
}

function parameterOf(fields: Fields, note: (text: string) => void): FoundParameter | null {
  const [name, place] = [textIn(fields, "name"), textIn(fields, "in") as RequestParameter["in"]];
  if (name === "" || name.length > 256 || !places.includes(place))
    throw new OperationRefused(
      "parameter_unsupported",
      `It has a parameter without a name or a place: ${JSON.stringify(name.slice(0, 64))}.`,
    );
  const required = place === "path" || fields.required === true;
  const [first] = membersIn(fields, "content");
  const common = { name, in: place, required, description: textIn(fields, "description") };
  if (first) {
    const [type, media] = first;
    if (!/json/i.test(type)) return unsupported(common, `as ${type.slice(0, 64)}`, note);
    return { ...common, schema: isObject(media) ? media.schema : undefined, style: "json" };
  }
  const usual = stylesOf[place][0]!;
  const style = (textIn(fields, "style") || usual) as NonNullable<RequestParameter["style"]>;
  if (style === "json" || !stylesOf[place].includes(style))
    return unsupported(common, `in the style ${style.slice(0, 64)}`, note);
  // The style of a path parameter matters for lists and objects only, which the sender sees.
  const explode = typeof fields.explode === "boolean" ? fields.explode : isExploded(style);
  return {
    ...common,
    schema: fields.schema,
    ...(style !== usual && { style }),
    ...(explode !== isExploded(style) && { explode }),
    ...(fields.allowReserved === true && place === "query" && { allow_reserved: true as const }),
  };
}

function unsupported(
  { name, required }: { name: string; required: boolean },
  how: string,
  note: (text: string) => void,
) {
  const shown = JSON.stringify(name.slice(0, 64));
  if (required)
    throw new OperationRefused(
      "parameter_unsupported",
      `Its parameter ${shown} is sent ${how}, which is not supported.`,
    );
  note(`Not sent: the parameter ${shown}, ${how}.`);
  return null;
}

/** A parameter that is a key: the import adds it from a secret. */
const isOfScheme = (parameter: FoundParameter, schemes: readonly PlannedScheme[]): boolean =>
  schemes.some(
    (scheme) => scheme.in === parameter.in && scheme.parameter?.toLowerCase() === parameter.name.toLowerCase(),
  );

function isSendable({ in: place, name, required }: FoundParameter, note: (text: string) => void): boolean {
  if (place === "cookie" && !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
    note(`Not sent: the cookie ${JSON.stringify(name.slice(0, 64))}.`);
    return false;
  }
  if (place !== "header") return true;
  if (otherHeaders.has(name.toLowerCase())) {
    if (required && name.toLowerCase() === "authorization")
      note("The header Authorization is none of its arguments: it comes from a secret.");
    return false;
  }
  try {
    checkHeaders({ [name]: "" });
    return true;
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    note(`Not sent: the header ${JSON.stringify(name.slice(0, 64))}.`);
    return false;
  }
}
