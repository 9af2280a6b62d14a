import { camel, pythonName } from "../../dashboard/src/lib/client-code.ts";
import { methodsOf, type OpenApi } from "./openapi.ts";

/** A request as received by a server. */
interface Sent {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
  body: unknown;
}

/** A client method with a value for each argument, and the expected request. */
interface Call {
  id: string;
  typescript: { path: string[]; args: unknown[]; isList: boolean };
  python: { path: string[]; args: unknown[]; named: Record<string, unknown>; isList: boolean };
  /** Number of leading arguments that are parts of the path. */
  parts: number;
  sent: Sent;
}

/** Values that would change the path to another one: no request may be sent with them. */
export const pathChangingValues = ["", ".", ".."];

/** Values that are sent unchanged, with their encoding in a path. */
export const escapedValues: Record<string, string> = {
  "%2e%2e": "%252e%252e",
  "a/../b": "a%2F..%2Fb",
  "..\\x": "..%5Cx",
  "...": "...",
  "\0": "%00",
};

/** Returns the call with another value for one part of its path; `encoded` is its received form. */
export function withPart(call: Call, index: number, value: string, encoded: string): Call {
  const before = encodeURIComponent(String(call.typescript.args[index]));
  return {
    ...call,
    typescript: { ...call.typescript, args: call.typescript.args.with(index, value) },
    python: { ...call.python, args: call.python.args.with(index, value) },
    sent: { ...call.sent, path: call.sent.path.replace(before, () => encoded) },
  };
}

/**
 * Returns each operation as a call with every documented argument: all parameters of its path, its query and its
 * headers, and every field of its body. The values are unique words, which no server would accept, and which show where
 * each argument arrives.
 */
export function everyCall(document: OpenApi): Call[] {
  const { schemas } = document.components;
  return methodsOf(document).map(({ resource, name, verb, path, inPath, query, headers, body, returns }) => {
    const id = [...resource, name].join(".");
    const isList = Boolean(returns?.items) && verb === "GET";
    // A `/` must not change the path.
    const ids = inPath.map((one) => `${one.name}/of path`);
    const queried = Object.fromEntries(query.map((one) => [one.name, wordFor(one.name, one.schema.type === "object")]));
    const inHead = Object.fromEntries(headers.map((one) => [one.name, `${one.name} of head`]));
    const fields = body?.isMap ? ["any"] : Object.keys(schemas[body?.name ?? ""]?.properties ?? {});
    const sent = Object.fromEntries(fields.filter((one) => one !== "stream").map((one) => [one, `${one} of body`]));
    const options = Object.fromEntries(Object.entries(inHead).map(([key, value]) => [optionOf(key), value]));
    const forPython = Object.entries({ ...(body?.isMap ? {} : sent), ...queried, ...inHead });
    return {
      id,
      typescript: {
        path: [...resource, name].map(camel),
        args: [...ids, ...(body ? [sent] : []), ...(query.length > 0 ? [queried] : []), options],
        isList,
      },
      python: {
        path: [...resource, pythonName(name)],
        args: [...ids, ...(body?.isMap ? [sent] : [])],
        named: Object.fromEntries(forPython.map(([key, value]) => [pythonName(key), value])),
        isList,
      },
      parts: inPath.length,
      sent: {
        method: verb,
        path: inPath.reduce(
          (address, one) => address.replace(`{${one.name}}`, encodeURIComponent(`${one.name}/of path`)),
          path,
        ),
        query: Object.fromEntries(
          Object.entries(queried).map(([key, value]) =>
            typeof value === "string" ? [key, value] : [`${key}[a]`, value.a],
          ),
        ),
        headers: Object.fromEntries(Object.entries(inHead).map(([key, value]) => [key.toLowerCase(), value])),
        body: body ? sent : undefined,
      },
    };
  });
}

const wordFor = (name: string, isMap: boolean): string | { a: string } =>
  isMap ? { a: "b" } : name === "wait" ? "1" : `${name} of query`;
const optionOf = (header: string): string => camel(header.toLowerCase().replaceAll("-", "_"));

/** Starts a server that records its requests, and whose response is valid for any operation. */
export function startRecorder(names: readonly string[]) {
  const received: Sent[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      const text = await request.text();
      const headers = names.flatMap((name) => (request.headers.has(name) ? [[name, request.headers.get(name)!]] : []));
      received.push({
        method: request.method,
        path: pathname,
        query: Object.fromEntries(searchParams),
        headers: Object.fromEntries(headers),
        body: text === "" ? undefined : JSON.parse(text),
      });
      return Response.json({ data: [], has_more: false, first_id: null, last_id: null });
    },
  });
  return { url: server.url.origin, received, [Symbol.dispose]: () => void server.stop(true) };
}

/** Returns the headers of all operations, in lower case. */
export const headersOf = (calls: readonly Call[]): string[] => [
  ...new Set(calls.flatMap(({ sent }) => Object.keys(sent.headers))),
];
