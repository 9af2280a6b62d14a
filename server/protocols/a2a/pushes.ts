import { AppError } from "../../domain/errors.ts";
import type { Principal } from "../../http/principal.ts";
import { isObject } from "../../lib/json.ts";
import type { RunWebhook } from "../../resources/webhooks/run-webhooks.ts";
import { A2aError } from "./errors.ts";

const invalid = (message: string) => new A2aError("INVALID_PARAMS", message);
const isShort = (value: unknown): value is string => typeof value === "string" && value.length <= 4096;

/** Header with the token by which the receiver authenticates a notification. */
const tokenHeader = "x-a2a-notification-token";

/** Throws for client tokens, because their pages read the run themselves. */
export function requireKey({ token }: Principal): void {
  if (token) throw new A2aError("PERMISSION_DENIED", "Notifications need an API key.", "insufficient_scope");
}

/** Reads a push notification configuration. Throws if it is invalid. */
export function readPush(config: unknown): RunWebhook {
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

/** Maps a refused address to an error of the client's parameters. */
export async function withAddressErrors<T>(work: Promise<T>): Promise<T> {
  return work.catch((error) => {
    const isFault = error instanceof AppError && ["url_not_allowed", "validation_failed"].includes(error.code);
    throw isFault ? new A2aError("INVALID_PARAMS", error.message, error.code) : error;
  });
}

/** Returns a configuration for clients. */
export function pushOf(taskId: string, { name, url, headers }: RunWebhook) {
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
