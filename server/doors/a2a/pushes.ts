import { AppError } from "../../core/errors.ts";
import type { Principal } from "../../http/principal.ts";
import { isObject } from "../../lib/json.ts";
import type { Follower } from "../../webhooks/followers.ts";
import { A2aError } from "./errors.ts";

const invalid = (message: string) => new A2aError("INVALID_PARAMS", message);
const isShort = (value: unknown): value is string => typeof value === "string" && value.length <= 4096;

/** By a token of its own, the receiver knows who sends. */
const tokenHeader = "x-a2a-notification-token";

/** Throws for client tokens: what a page is told of, it reads itself. */
export function requireKey({ token }: Principal): void {
  if (token) throw new A2aError("PERMISSION_DENIED", "Notifications need an API key.", "insufficient_scope");
}

/** What a client asks to be told, and where. Throws for what is no such configuration. */
export function readPush(config: unknown): Follower {
  if (!isObject(config)) throw invalid("taskPushNotificationConfig: expected an object.");
  const { url, token, authentication } = config;
  const id = config.id === undefined || config.id === "" ? crypto.randomUUID() : config.id;
  if (typeof id !== "string" || !/^[\w.~-]{1,128}$/.test(id))
    throw invalid("id: expected up to 128 letters, digits, . _ ~ -.");
  if (!isShort(url)) throw invalid("url: expected an address.");
  const headers: Record<string, string> = {};
  if (token !== undefined && token !== "") headers[tokenHeader] = headerOf(token, "token");
  if (authentication !== undefined) headers.authorization = authorizationOf(authentication);
  return { name: id, url, headers };
}

function authorizationOf(authentication: unknown): string {
  if (!isObject(authentication)) throw invalid("authentication: expected an object.");
  const { scheme, credentials = "" } = authentication;
  if (typeof credentials !== "string") throw invalid("authentication.credentials: expected a text.");
  if (typeof scheme !== "string" || !/^[\w-]{1,64}$/.test(scheme))
    throw invalid("authentication.scheme: expected the name of a scheme.");
  return headerOf(credentials === "" ? scheme : `${scheme} ${credentials}`, "authentication.credentials");
}

function headerOf(value: unknown, name: string): string {
  if (isShort(value) && /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)) return value;
  throw invalid(`${name}: expected printable ASCII characters.`);
}

/** The same, of an address that is refused: it is the client's to mend. */
export async function taken<T>(work: Promise<T>): Promise<T> {
  return work.catch((error) => {
    const isFault = error instanceof AppError && ["url_not_allowed", "validation_failed"].includes(error.code);
    throw isFault ? new A2aError("INVALID_PARAMS", error.message, error.code) : error;
  });
}

/** A configuration as its clients see it. */
export function pushOf(taskId: string, { name, url, headers }: Follower) {
  const { [tokenHeader]: token, authorization } = headers;
  const [scheme, ...credentials] = authorization?.split(" ") ?? [];
  return {
    id: name,
    taskId,
    url,
    ...(token !== undefined && { token }),
    ...(scheme !== undefined && { authentication: { scheme, credentials: credentials.join(" ") } }),
  };
}
