import type { PlannedServer } from "../../domain/openapi-import.ts";
import { isObject } from "../../lib/json.ts";
import { cutText } from "./cut-text.ts";
import type { Fields } from "./read-document.ts";
import { itemsIn, membersIn, textIn } from "./references.ts";

const serversMost = 50;
const variablesMost = 20;
const urlLength = 1024;

/** Servers of a document, a path or an operation. */
export function readServers(fields: Fields): PlannedServer[] {
  return itemsIn(fields, "servers")
    .filter(isObject)
    .slice(0, serversMost)
    .map((server) => ({
      url: textIn(server, "url").slice(0, urlLength),
      description: cutText(textIn(server, "description"), 200),
      variables: membersIn(server, "variables")
        .slice(0, variablesMost)
        .map(([name, variable]) => {
          const fields = isObject(variable) ? variable : {};
          return {
            name: name.slice(0, 128),
            default: valueText(fields.default),
            enum: itemsIn(fields, "enum").slice(0, 50).map(valueText),
            description: cutText(textIn(fields, "description"), 200),
          };
        }),
    }));
}

const valueText = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value).slice(0, 256) : "";

/** Returns the address of a server without a slash at its end; null if it is none that tools can call. */
export function serverAddress({ url, variables }: PlannedServer, documentUrl: string | null): string | null {
  const filled = url.replaceAll(/\{([^{}]*)\}/g, (whole, name: string) => {
    const variable = variables.find((each) => each.name === name);
    return variable && (variable.default || variable.enum[0]) ? variable.default || variable.enum[0]! : whole;
  });
  return plainAddress(filled, documentUrl);
}

/** Returns an address without query, fragment and login; null for any other. */
export function plainAddress(text: string, base: string | null): string | null {
  if (/[{}]/.test(text)) return null;
  const url = URL.parse(text.trim(), base ?? undefined);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) return null;
  return url.href.replace(/\/+$/, "");
}
