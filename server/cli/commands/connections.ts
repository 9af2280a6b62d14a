import { Command } from "commander";
import type { ConnectionCheck, Tried } from "../../domain/api-types/console.ts";
import { checkWords, type FeatureCheck, featureChecks } from "../../domain/connection-check.ts";
import { timestampOrNull } from "../../domain/time.ts";
import type { ConnectionChange } from "../../resources/model-connections/check-connection.ts";
import { modelPrefix } from "../../runtime/models/registry.ts";
import { cliActor } from "./actor.ts";
import { type AuthOptions, addAuthOptions, authOf, splitAuth } from "./auth-options.ts";
import { addCloudOptions, type CloudOptions, cloudFieldsOf } from "./cloud-options.ts";
import { commandTarget } from "./command-target.ts";
import { type ConnectOptions, connect } from "./connect-connection.ts";
import { CliError, usageError } from "./exit-code.ts";
import { addConnectionCommand, removeConnectionCommand } from "./models.ts";
import { addDataOptions, type DataFlags, option } from "./option.ts";
import { oneLine, print, table } from "./print.ts";
import { withStores } from "./with-stores.ts";

/** `runnel connections`: how to reach model providers. */
export function connectionsCommand(): Command {
  const connections = new Command("connections").description("how to reach model providers");
  connections.addCommand(addConnectionCommand());
  connections.command("list").description("list the connections, without their keys").action(list);
  addAuthOptions(
    addCloudOptions(
      connections
        .command("edit")
        .description("change a stored connection; what no flag names stays, and running calls end as they began")
        .argument("<name>", "the connection, as `connections list` shows it")
        .addOption(option("--base-url <url>", "another address; none: the provider's own"))
        .addOption(option("--api-key <key>", "another key", { env: "RUNNEL_MODEL_API_KEY" }))
        .addOption(option("--remove-key", "remove the key, or OAuth")),
    ),
  )
    .addOption(option("--max-concurrent <count>", "calls that its server takes at once; none: no limit"))
    .addOption(option("--idle-timeout-ms <ms>", "how long its server may send nothing; none: 300000"))
    .addOption(
      option("--fallback <models...>", "models or connections that are asked if its models cannot answer; none: none"),
    )
    .addOption(option("--expected-version <number>", "fail if the connection was changed since this version"))
    .addHelpText("after", "\nExample:\n  $ RUNNEL_MODEL_API_KEY=sk-… runnel connections edit openai")
    .action(edit);
  connections.addCommand(removeConnectionCommand());
  connections
    .command("connect")
    .description("consent to a connection with an authorization code: prints the address, and waits for the outcome")
    .argument("<name>", "the connection, as `connections list` shows it")
    .addOption(option("--public-url <url>", "the server's public URL, if its client is registered with that callback"))
    .addOption(
      option("--port <port>", "port on 127.0.0.1 for the callback; default: any", {
        env: "RUNNEL_CALLBACK_PORT",
      }),
    )
    .addHelpText(
      "after",
      `
The callback is /oauth/callback at the public URL, or at http://127.0.0.1 and the port. Exits with 1 if it is refused.
Example:
  $ runnel connections connect gateway --public-url https://agents.example.com`,
    )
    .action((name: string, options: ConnectOptions) => connect(name, options));
  connections
    .command("test")
    .description("try what a connection's server takes, with one small request for each feature: a few cents at most")
    .argument("<name>", "the connection, as `connections list` shows it")
    .addOption(
      option("--model <model>", "the model to ask (default: a cheap one of its list)", { env: "RUNNEL_TEST_MODEL" }),
    )
    .addOption(option("--only <features>", `some of ${featureChecks.join(", ")}, or none; default: all but images`))
    .addHelpText("after", "\nExits with 1 if the model does not answer. Example:\n  $ runnel connections test openai")
    .action(test);
  addDataOptions(...connections.commands);
  return connections;
}

async function list({ dataDir, json }: DataFlags): Promise<void> {
  const data = await withStores(dataDir, false, (stores) => {
    const connections = stores.connections();
    const tests = connections.lastTests();
    const seen = new Set<string>();
    return connections.list().map(({ created_at_ms, updated_at_ms, ...rest }) => {
      const prefix = modelPrefix(rest);
      const test = seen.has(prefix) ? undefined : tests.get(prefix);
      seen.add(prefix);
      return {
        ...rest,
        prefix,
        created_at: timestampOrNull(created_at_ms),
        updated_at: timestampOrNull(updated_at_ms),
        last_test: test ? { ok: test.result.ok, tested_at: timestampOrNull(test.tested_at_ms) } : null,
      };
    });
  });
  print(json, { object: "list", data }, () =>
    table(
      ["NAME", "PROVIDER", "BASE URL", "KEY", "CONSENT", "AT ONCE", "FROM", "VERSION", "LAST TEST"],
      data.map(({ name, provider, base_url, has_key, consent, max_concurrent, source, version, last_test }) => [
        name,
        provider,
        base_url ?? "",
        has_key ? "yes" : "",
        consent?.status ?? "",
        String(max_concurrent ?? ""),
        source,
        String(version ?? ""),
        last_test ? `${last_test.ok ? "worked" : "failed"} ${last_test.tested_at?.slice(0, 16)}` : "",
      ]),
    ),
  );
}

interface EditOptions extends DataFlags, CloudOptions, AuthOptions {
  baseUrl?: string;
  apiKey?: string;
  removeKey?: boolean;
  maxConcurrent?: string;
  idleTimeoutMs?: string;
  fallback?: string[];
  expectedVersion?: string;
}

async function edit(name: string, { dataDir, json, ...options }: EditOptions): Promise<void> {
  const { auth, rest: flags } = splitAuth(options);
  const isAuthGiven = Object.values(auth).some((value) => value !== undefined);
  const change = readChange(flags, isAuthGiven);
  const changed = await withStores(dataDir, false, async (stores) => {
    const { store: connections, revocations } = stores.connected();
    const before = connections.list().find((each) => each.name === name && each.source === "stored");
    const given = authOf(auth, before?.auth);
    await connections.update(name, { ...change, ...(given && { auth: given }) }, cliActor());
    await revocations.idle();
    return connections.list().find((each) => each.name === name && each.source === "stored");
  });
  const { created_at_ms, updated_at_ms, ...rest } = changed ?? throwMissing(name);
  const shown = { ...rest, created_at: timestampOrNull(created_at_ms), updated_at: timestampOrNull(updated_at_ms) };
  print(json, shown, () => `${name} is at version ${rest.version}. Its next calls use it as it is now.`);
}

function throwMissing(name: string): never {
  throw new CliError(`There is no connection "${name}".`);
}

/** Returns the change of the flags. Throws a usage error. */
function readChange(
  options: Omit<EditOptions, keyof DataFlags | keyof AuthOptions>,
  isAuthGiven: boolean,
): ConnectionChange {
  const { baseUrl, apiKey, removeKey, maxConcurrent, idleTimeoutMs, fallback, expectedVersion, ...cloud } = options;
  if (removeKey && apiKey !== undefined) throw usageError("Give either --api-key or --remove-key.");
  const change: ConnectionChange = {
    ...(baseUrl !== undefined && { base_url: baseUrl === "none" ? null : baseUrl }),
    ...((removeKey || apiKey !== undefined) && { api_key: removeKey ? null : apiKey }),
    ...(removeKey && { auth: null }),
    ...(maxConcurrent !== undefined && { max_concurrent: countOrNone(maxConcurrent, "--max-concurrent") }),
    ...(idleTimeoutMs !== undefined && { idle_timeout_ms: countOrNone(idleTimeoutMs, "--idle-timeout-ms") }),
    ...(fallback !== undefined && { fallbacks: fallback.join() === "none" ? [] : fallback }),
    ...cloudFieldsOf(cloud),
  };
  if (Object.keys(change).length === 0 && !isAuthGiven)
    throw usageError("Name what is to be changed, such as --base-url.");
  if (expectedVersion === undefined) return change;
  return { ...change, expected_version: countOrNone(expectedVersion, "--expected-version") ?? 1 };
}

function countOrNone(text: string, flag: string): number | null {
  if (text === "none") return null;
  if (!/^\d{1,9}$/.test(text)) throw usageError(`${flag} takes a whole number or none.`);
  return Number(text);
}

interface TestOptions extends DataFlags {
  model?: string;
  only?: string;
}

async function test(name: string, { dataDir, json, model, only }: TestOptions): Promise<void> {
  const checks = readFeatures(only);
  const { tryConnection } = await import("../../resources/model-connections/try-connection.ts");
  const signal = commandTarget()?.gone ?? new AbortController().signal;
  const tried = await withStores(dataDir, false, async (stores) => {
    const { connections, prices } = stores.models();
    const used = connections.used().find((each) => each.name === name || each.prefix === name) ?? throwMissing(name);
    const onCheck = (check: ConnectionCheck) => {
      if (!json) print(false, check, () => lineOf(check));
    };
    const { tokenOf } = connections;
    const options = { model: model ?? null, checks, signal, onCheck, priceOf: prices.priceOf, tokenOf };
    const result = await tryConnection(used.open(), options);
    await connections.noteTest(used, result, cliActor());
    return result;
  });
  print(json, tried, () => summaryOf(tried));
  if (!tried.ok) throw new CliError(`The connection failed: ${oneLine(tried.error?.message ?? "")}`);
}

/** Returns the features of `--only`. Throws a usage error. */
function readFeatures(only: string | undefined): FeatureCheck[] {
  if (only === undefined) return featureChecks.filter((each) => each !== "images");
  if (only === "none") return [];
  return only.split(",").map((text) => {
    const found = featureChecks.find((each) => each === text.trim());
    return found ?? throwFeature(text.trim());
  });
}

function throwFeature(text: string): never {
  throw usageError(`There is no feature "${text}". --only takes ${featureChecks.join(", ")}, or none.`);
}

const labelWidth = Math.max(...Object.values(checkWords).map(({ length }) => length));

/** Returns `yes      Streaming  …`. Foreign texts are shown on one line. */
const lineOf = ({ check, result, message, latency_ms }: ConnectionCheck): string =>
  [
    result.padEnd(7),
    checkWords[check].padEnd(labelWidth),
    [message === null ? "" : oneLine(message), latency_ms === null ? "" : `(${latency_ms} ms)`]
      .filter(Boolean)
      .join(" "),
  ]
    .join("  ")
    .trimEnd();

function summaryOf({ model, usage, cost_usd }: Tried): string {
  if (model === null) return "No request was sent to a model.";
  const tokens = usage ? `${usage.input_tokens ?? "?"} tokens in, ${usage.output_tokens ?? "?"} out` : "no tokens";
  return `Asked ${oneLine(model)}: ${tokens}, ${cost_usd === null ? "cost unknown" : `${cost_usd.toFixed(5)} USD`}.`;
}
