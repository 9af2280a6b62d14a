import { Elysia } from "elysia";
import { type App, type AppOptions, createApp } from "../app.ts";
import type { OidcSettings } from "../dashboard-api/oidc.ts";
import type { SandboxLevel } from "../domain/api-types/enums.ts";
import type { Environment, Permission, Scope } from "../domain/scope.ts";
import { type DescribedOperation, describeOperations } from "../http/describe-operations.ts";
import type { Route } from "../http/operation.ts";
import { vecLibrary } from "../lib/assets.ts";
import type { Egress } from "../lib/egress.ts";
import { parseExact } from "../lib/exact-numbers.ts";
import { type Log, silentLog } from "../lib/log.ts";
import type { MailSettings } from "../lib/mailer.ts";
import { createSeal } from "../lib/seal.ts";
import type { OtlpTarget } from "../resources/traces/otlp-post.ts";
import { listModels } from "../runtime/models/model-list.ts";
import { ollamaUrl } from "../runtime/models/ollama.ts";
import type { Embedders } from "../runtime/retrieval/embeddings/embedder.ts";
import type { SystemPython } from "../runtime/sandbox/system-python.ts";
import { type Db, openDatabase } from "../storage/db/open.ts";
import type { Failover } from "../storage/replication/lease.ts";
import { wordEmbedders } from "./embedder.ts";
import { type Answer, createExpectDeclared, createExpectShape } from "./expect-declared.ts";
import { testActor } from "./test-actor.ts";

interface ClientOptions {
  /** Project by name; created if it does not exist. */
  project?: string;
  environment?: Environment;
  scopes?: Permission[];
  agent_ids?: string[];
}

/** Sends requests with one key. */
export interface Client {
  scope: Scope;
  key: { id: string; secret: string };
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  put(path: string, body?: unknown): Promise<Answer>;
  patch(path: string, body?: unknown): Promise<Answer>;
  delete(path: string): Promise<Answer>;
}

export interface TestAppOptions {
  now?: () => number;
  log?: Log;
  /** Lets HTTP tools of test environments reach this machine. */
  loopback?: boolean;
  /** Throws `storage_full` if there is no room for new work. */
  requireRoom?: () => void;
  sandbox?: SandboxLevel;
  /** An installed CPython for programs. Default: the built-in one. */
  python?: SystemPython | null;
  /** Timeout in milliseconds of one delivery attempt to a webhook. */
  webhook_attempt_ms?: number;
  /** Addresses that the operator allows besides public ones. */
  egress?: string[];
  /** Fetches the URLs that clients name; by default from public addresses only. */
  publicEgress?: Egress;
  /** Environment variables. */
  environment?: Record<string, string>;
  /** Collector that receives the trace of every run that ends. */
  otlpTarget?: OtlpTarget;
  /** Address of Ollama if no connection names one. */
  ollama?: string;
  /** Embedders of text; by default each word is a dimension, which needs no model. */
  embedders?: Embedders;
  /** Public URL of the server. */
  publicUrl?: string;
  /** Folder of the built documentation. */
  docs?: string;
  /** Adds the dashboard's routes under `/console/api`, without its pages. */
  dashboard?: boolean;
  /** Issuer at which people sign in to the dashboard. */
  oidc?: OidcSettings;
  /** Server that sends mail to people. */
  mail?: MailSettings;
  /** False: sign-in by password is off. */
  localAccounts?: boolean;
  /** The failover by which the server came to lead a cell of a cluster. */
  failover?: Failover;
  /** Transport of the requests; by default they are sent in memory, and all are accepted. */
  transport?: AppOptions["transport"];
  /** Database of a server that was stopped. */
  db?: Db;
  /** Key that encrypts secrets. */
  masterKey?: Uint8Array;
}

// All servers of a test file have the same routes under /v1.
let operations: DescribedOperation[] | undefined;

export type TestApp = ReturnType<typeof testApp>;

/** No test asks a provider for its list, because keys are made up, nor an Ollama of the developer's. */
const listOfThisMachine: typeof listModels = async (connection, options) =>
  connection.base_url?.includes("//127.0.0.1") && connection.base_url !== ollamaUrl
    ? await listModels(connection, options)
    : { models: null, error: { code: "unreachable", message: "The server cannot be reached.", detail: null } };

/** Creates the whole server in memory: real routes, real SQLite, runs on this thread, no socket. */
export function testApp({
  now = Date.now,
  log = silentLog,
  loopback = true,
  requireRoom,
  sandbox = "process",
  python = null,
  webhook_attempt_ms,
  otlpTarget,
  ollama,
  egress = [],
  publicEgress,
  environment = {},
  embedders = wordEmbedders(),
  publicUrl = "https://localhost",
  docs,
  dashboard = false,
  oidc,
  mail,
  localAccounts,
  failover,
  transport,
  db = openDatabase(":memory:", { vecLibrary: vecLibrary("") }),
  masterKey = crypto.getRandomValues(new Uint8Array(32)),
}: TestAppOptions = {}) {
  const server: App = createApp({
    db,
    seal: createSeal(masterKey),
    log,
    environment,
    workers: 0,
    egress: { allow: egress, loopback },
    publicEgress,
    sandbox: { level: async () => sandbox, known: () => sandbox, python },
    webhook_attempt_ms,
    otlpTarget,
    ollama,
    listModels: listOfThisMachine,
    storage: requireRoom && { requireRoom, isWhole: () => true },
    embedders,
    docs,
    failover,
    transport,
    publicUrl: () => publicUrl,
    ...(dashboard && {
      dashboard: { pages: new Elysia(), secureCookie: true, version: "test", oidc, mail, localAccounts },
    }),
    now,
  });

  operations ??= describeOperations(server.app.routes as Route[]);
  const expectDeclared = createExpectDeclared(operations);
  const expectShape = createExpectShape(() => server.routes() as readonly Route[]);

  async function send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const hasBody = body !== undefined;
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: hasBody ? { "content-type": "application/json", ...headers } : headers,
      body: !hasBody ? null : typeof body === "string" ? body : JSON.stringify(body),
    });
    const response = await server.app.handle(request);
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    const answer = {
      status: response.status,
      body: isJson && text ? parseExact<Answer["body"]>(text) : text,
      headers: response.headers,
    };
    expectDeclared(method, path, answer); // Check every response against its declaration, in any test.
    expectShape(method, path, answer);
    return answer;
  }

  async function client(options: ClientOptions = {}): Promise<Client> {
    const { project = "default", environment = "test", scopes = ["admin"], agent_ids } = options;
    const { id } = server.projects.byName(project) ?? (await server.projects.create(project));
    const scope: Scope = { project_id: id, environment };
    const key = await server.keys.create({ ...scope, actor: testActor }, { name: "test", scopes, agent_ids });
    const ask = (method: string) => (path: string, body?: unknown) =>
      send(method, path, body, { authorization: `Bearer ${key.secret}` });
    return {
      scope,
      key,
      get: ask("GET"),
      post: ask("POST"),
      put: ask("PUT"),
      patch: ask("PATCH"),
      delete: ask("DELETE"),
    };
  }

  return {
    ...server,
    db,
    /** Declarations of the API's routes, by method and path. */
    operations: Object.fromEntries(operations.map((operation) => [`${operation.method} ${operation.path}`, operation])),
    send,
    client,
    async [Symbol.asyncDispose]() {
      await server.stop();
      db.close();
    },
  };
}
