import { expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testServiceAccount } from "../../testing/service-account.ts";
import { connectionsFromEnvironment, isAvailable, openModel, parseModel, testConnection } from "./registry.ts";

test.each([
  ["openai/gpt-5", "openai", "openai", "gpt-5"],
  ["ollama/qwen3:8b", "ollama", "ollama", "qwen3:8b"],
  ["bedrock/us.amazon.nova-pro-v1:0", "bedrock", "bedrock", "us.amazon.nova-pro-v1:0"],
  [
    "bedrock/arn:aws:bedrock:eu-west-1:1:inference-profile/x",
    "bedrock",
    "bedrock",
    "arn:aws:bedrock:eu-west-1:1:inference-profile/x",
  ],
  ["vertex/claude-sonnet-4-5@20250929", "vertex", "vertex", "claude-sonnet-4-5@20250929"],
  ["google/models/gemini-2.5-pro", "google", "google", "models/gemini-2.5-pro"],
  ["openai_compatible/gpu_1/org/model:v2", "openai_compatible", "gpu_1", "org/model:v2"],
  ["openai_compatible/gpu//models/qwen.gguf", "openai_compatible", "gpu", "/models/qwen.gguf"],
  ["test/echo", "test", "test", "echo"],
])("%s is read", (name, provider, connection, model) => {
  expect(parseModel(name)).toEqual({ provider: provider as "openai", connection, model });
});

test.each([
  "",
  "gpt-5",
  "openai/",
  "/gpt-5",
  "openai//gpt-5",
  "nobody/model",
  "openai_compatible/model",
  "openai_compatible//model",
  "openai_compatible/GPU/model",
  "openai/gpt 5",
  "openai/gpt-5\n",
  `openai/${"x".repeat(300)}`,
])("%j is not a model", (name) => {
  expect(parseModel(name)).toBeNull();
});

test("connections come from the environment", () => {
  const connections = connectionsFromEnvironment({
    OPENAI_API_KEY: " sk-1\n",
    ANTHROPIC_API_KEY: "sk-2",
    GOOGLE_GENERATIVE_AI_API_KEY: "",
    OPENAI_BASE_URL: "https://elsewhere.example.com",
    RUNNEL_MODEL_GPU_1_BASE_URL: "http://127.0.0.1:8080/v1",
    RUNNEL_MODEL_GPU_1_API_KEY: "k",
    RUNNEL_MODEL_BARE_BASE_URL: "http://127.0.0.1:8081/v1",
    RUNNEL_MODEL_LONELY_API_KEY: "k",
  });
  expect(connections).toEqual([
    { name: "openai", provider: "openai", base_url: null, api_key: "sk-1" },
    { name: "anthropic", provider: "anthropic", base_url: null, api_key: "sk-2" },
    { name: "ollama", provider: "ollama", base_url: "http://127.0.0.1:11434/v1", api_key: null },
    { name: "gpu_1", provider: "openai_compatible", base_url: "http://127.0.0.1:8080/v1", api_key: "k" },
    { name: "bare", provider: "openai_compatible", base_url: "http://127.0.0.1:8081/v1", api_key: null },
  ]);
});

test("providers with chat completions have the variables that their users know", () => {
  const connections = connectionsFromEnvironment({
    MISTRAL_API_KEY: "k1",
    GROQ_API_KEY: "k2",
    DEEPSEEK_API_KEY: "k3",
    XAI_API_KEY: "k4",
    OPENROUTER_API_KEY: "k5",
    TOGETHER_API_KEY: "k6",
    FIREWORKS_API_KEY: "k7",
    AZURE_API_KEY: "k8",
    AZURE_OPENAI_ENDPOINT: "https://shop.openai.azure.com",
    RUNNEL_MODEL_GROQ_MAX_CONCURRENT: "2",
  });
  const shown = connections.map(({ provider, base_url, api_key, max_concurrent }) => [
    provider,
    api_key,
    base_url,
    max_concurrent,
  ]);
  expect(shown.slice(0, -1)).toEqual([
    ["mistral", "k1", null, undefined],
    ["groq", "k2", null, 2],
    ["deepseek", "k3", null, undefined],
    ["xai", "k4", null, undefined],
    ["openrouter", "k5", null, undefined],
    ["together", "k6", null, undefined],
    ["fireworks", "k7", null, undefined],
    ["azure", "k8", "https://shop.openai.azure.com", undefined],
  ]);
});

test("Azure has a connection only with a key and an address", () => {
  const providers = (env: Record<string, string>) => connectionsFromEnvironment(env).map(({ provider }) => provider);
  expect(providers({ AZURE_OPENAI_API_KEY: "k" })).toEqual(["ollama"]);
  expect(providers({ AZURE_API_BASE: "https://shop.openai.azure.com" })).toEqual(["ollama"]);
});

const awsKey = { AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "secret" };
test.each([
  [
    { AWS_BEARER_TOKEN_BEDROCK: " key\n", AWS_REGION: "eu-west-1", ...awsKey },
    { api_key: "key", region: "eu-west-1" },
  ],
  [
    {
      ...awsKey,
      AWS_SESSION_TOKEN: "session",
      AWS_DEFAULT_REGION: "us-east-1",
      RUNNEL_MODEL_BEDROCK_MAX_CONCURRENT: "2",
    },
    {
      api_key: null,
      region: "us-east-1",
      access_key_id: "AKID",
      secret_access_key: "secret",
      session_token: "session",
      max_concurrent: 2,
    },
  ],
  [
    { ...awsKey, AWS_REGION: "us-east-1" },
    { api_key: null, region: "us-east-1", access_key_id: "AKID", secret_access_key: "secret" },
  ],
  [awsKey, null],
  [{ AWS_BEARER_TOKEN_BEDROCK: "key" }, null],
  [{ AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "AKID" }, null],
])("Bedrock of the environment %j is %j", (env, expected) => {
  const found = connectionsFromEnvironment(env).find(({ name }) => name === "bedrock") ?? null;
  expect(found).toEqual(expected && { name: "bedrock", provider: "bedrock", base_url: null, ...expected });
});

test("Bedrock of the environment may have a private address", () => {
  const AWS_ENDPOINT_URL_BEDROCK_RUNTIME = "https://vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com";
  const env = { ...awsKey, AWS_REGION: "us-east-1", AWS_ENDPOINT_URL_BEDROCK_RUNTIME };
  expect(connectionsFromEnvironment(env)[0]?.base_url).toBe(AWS_ENDPOINT_URL_BEDROCK_RUNTIME);
  expect(() => connectionsFromEnvironment({ ...env, AWS_ENDPOINT_URL_BEDROCK_RUNTIME: "vpce-1" })).toThrow(
    "takes an address",
  );
});

test("Vertex of the environment has a service account's key of a project, or an API key", () => {
  const vertex = (env: Record<string, string>) => connectionsFromEnvironment(env).find(({ name }) => name === "vertex");
  const shared = { name: "vertex", provider: "vertex" as const, base_url: null };
  const file = join(mkdtempSync(join(tmpdir(), "runnel-")), "key.json");
  const service_account = JSON.stringify(testServiceAccount().account);
  writeFileSync(file, service_account);
  const account = { GOOGLE_VERTEX_PROJECT: "shop-123", GOOGLE_APPLICATION_CREDENTIALS: file };
  const expected = { ...shared, api_key: null, project: "shop-123", service_account };
  expect(vertex({ ...account, GOOGLE_VERTEX_API_KEY: "key" })).toEqual(expected);
  expect(vertex({ ...account, GOOGLE_VERTEX_LOCATION: "eu" })).toEqual({ ...expected, location: "eu" });
  expect(vertex({ GOOGLE_VERTEX_API_KEY: "key" })).toEqual({ ...shared, api_key: "key" });
  expect(vertex({ GOOGLE_APPLICATION_CREDENTIALS: file })).toBeUndefined();
  const base_url = "https://vertex.p.googleapis.com";
  expect(vertex({ ...account, GOOGLE_VERTEX_BASE_URL: base_url })).toEqual({ ...expected, base_url });
  expect(() => vertex({ ...account, GOOGLE_APPLICATION_CREDENTIALS: `${file}.gone` })).toThrow("ENOENT");
  writeFileSync(file, '{"type": "authorized_user", "refresh_token": "canary"}');
  expect(() => vertex(account)).toThrow("not JSON of another type (authorized_user)");
});

test("Ollama can have another address", () => {
  const [ollama] = connectionsFromEnvironment({ OLLAMA_BASE_URL: "http://10.0.0.2:11434/v1" });
  expect(ollama).toMatchObject({ name: "ollama", base_url: "http://10.0.0.2:11434/v1" });
});

test.each([
  ["openai/gpt-5", true],
  ["anthropic/claude-sonnet-4-5", false],
  ["ollama/llama3", true],
  ["openai_compatible/gpu/m", true],
  ["openai_compatible/cpu/m", false],
  ["test/echo", true],
  ["test/nothing", false],
  ["nobody/m", false],
])("%s is available: %j", (name, expected) => {
  const env = { OPENAI_API_KEY: "sk-1", RUNNEL_MODEL_GPU_BASE_URL: "http://127.0.0.1:8080/v1" };
  expect(isAvailable(name, connectionsFromEnvironment(env))).toBe(expected);
});

test("a built-in model opens without any provider's SDK", async () => {
  const script = `
    const { openModel, testConnection } = await import(${JSON.stringify(`${import.meta.dir}/registry.ts`)});
    const model = await openModel(testConnection, "echo");
    const request = { messages: [{ role: "user", content: "hi" }], tools: [], settings: {} };
    for await (const event of model.stream(request, new AbortController().signal)) console.log(event.type);
    console.log(Object.keys(require.cache).filter((path) => path.includes("@ai-sdk")).length);`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
  expect((await new Response(child.stdout).text()).trim().split("\n")).toEqual(["delta", "done", "0"]);
});

test("a connection's own address is used, whatever the environment has", async () => {
  using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("", { status: 418 }) });
  const connection = { name: "openai", provider: "openai" as const, base_url: `${server.url}v1`, api_key: "k" };
  const model = await openModel(connection, "m");
  const asked = { messages: [{ role: "user" as const, content: "hi" }], tools: [], settings: {} };
  const all = await Array.fromAsync(model.stream(asked, new AbortController().signal));
  expect(JSON.stringify(all)).toContain("HTTP 418");
  expect(testConnection.api_key).toBeNull();
});

test.each([
  [{ ISSUER: "https://a.example", CLIENT_SECRET: "s" }, "RUNNEL_MODEL_GW_CLIENT_ID"],
  [{ ISSUER: "https://a.example", CLIENT_ID: "c" }, "RUNNEL_MODEL_GW_CLIENT_SECRET"],
  [{ CLIENT_ID: "c", CLIENT_SECRET: "s" }, "RUNNEL_MODEL_GW_ISSUER"],
  [
    { CLIENT_ID: "c", CLIENT_SECRET: "s", ISSUER: "https://a.example", TOKEN_ENDPOINT: "https://a.example/t" },
    "ISSUER",
  ],
  [{ CLIENT_ID: "c", CLIENT_SECRET: "s", ISSUER: "https://a.example", API_KEY: "k" }, "RUNNEL_MODEL_GW_API_KEY"],
  [{ CLIENT_ID: "c", CLIENT_SECRET: "s", ISSUER: "a.example" }, "RUNNEL_MODEL_GW_ISSUER"],
  [{ CLIENT_ID: "c", CLIENT_SECRET: "s", ISSUER: "https://a.example", TOKEN_AUTH_METHOD: "none" }, "TOKEN_AUTH_METHOD"],
  [{ CLIENT_ID: "c", CLIENT_SECRET: "s", ISSUER: "https://a.example", RESOURCE: "a b" }, "RUNNEL_MODEL_GW_RESOURCE"],
])("OAuth of the environment that lacks a part names its variable: %o", (given, variable) => {
  const set = Object.entries(given).map(([name, value]) => [`RUNNEL_MODEL_GW_${name}`, value]);
  const env = { RUNNEL_MODEL_GW_BASE_URL: "https://gw.example/v1", ...Object.fromEntries(set) };
  expect(() => connectionsFromEnvironment(env)).toThrow(variable);
});

test("a provider with an address of its own takes OAuth in place of its key", () => {
  const env = {
    AZURE_OPENAI_ENDPOINT: "https://name.openai.azure.com",
    RUNNEL_MODEL_AZURE_TOKEN_ENDPOINT: "https://login.example/token",
    RUNNEL_MODEL_AZURE_CLIENT_ID: "c",
    RUNNEL_MODEL_AZURE_CLIENT_SECRET: "s",
  };
  const [azure] = connectionsFromEnvironment(env).filter(({ name }) => name === "azure");
  expect(azure).toMatchObject({ api_key: null, client_secret: "s", auth: { client_id: "c", issuer: null } });
  expect(() => connectionsFromEnvironment({ ...env, AZURE_OPENAI_API_KEY: "k" })).toThrow("not both");
});
