import type { ToolImport } from "../../../../../server/resources/tools/import/schema.ts";

const addressesMost = 200;

/** Addresses of a document's servers, one for each listed value of their variables, without those that are relative. */
export function serverAddresses({
  servers,
  server,
  source,
}: Pick<ToolImport, "servers" | "server" | "source">): { url: string; description: string }[] {
  const found = new Map<string, string>(server === null ? [] : [[server, ""]]);
  for (const { url, description, variables } of servers) {
    let filled = [url];
    for (const { name, default: usual, enum: values } of variables) {
      const all = [...new Set([usual, ...values])];
      filled = filled
        .flatMap((each) => all.map((value) => each.replaceAll(`{${name}}`, value)))
        .slice(0, addressesMost);
    }
    for (const address of filled) {
      const whole = (URL.canParse(address) ? address : (URL.parse(address, source)?.href ?? "")).replace(/\/+$/, "");
      if (/^https?:\/\//i.test(whole) && !/[{}]/.test(address) && found.size < addressesMost)
        found.set(whole, found.get(whole) || description);
    }
  }
  return [...found].map(([url, description]) => ({ url, description }));
}
