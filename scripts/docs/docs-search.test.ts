import { beforeAll, describe, expect, test } from "bun:test";
import { docsFinder, docsIndexOf } from "../../server/lib/docs-search.ts";
import { testApp } from "../../server/testing/test-app.ts";
import { referencePages, searchableContentOf } from "./build-docs.ts";
import { writtenPages } from "./pages.ts";
import { searchWords } from "./search-words.ts";

let find: ReturnType<typeof docsFinder>;
let paths: string[];
let size = { index: 0, texts: 0 };
beforeAll(async () => {
  await using server = testApp();
  const document = (await server.send("GET", "/docs/openapi.json")).body;
  const pages = searchableContentOf([...writtenPages(), ...referencePages(document)]);
  const index = docsIndexOf(pages);
  size = { index: index.length, texts: JSON.stringify(pages).length };
  paths = pages.map(({ path }) => path);
  find = docsFinder(index);
});

describe("a search of the documentation", () => {
  test.each([
    ["SSO", "operate/sign-in"],
    ["SAML", "operate/sign-in"],
    ["RAG", "guides/memory"],
    ["CLI", "reference/commands"],
    ["pagination", "guides/pagination"],
    ["cursor", "guides/pagination"],
    ["Azure OpenAI", "start/azure-openai"],
    ["LM Studio", "start/lm-studio"],
    ["vLLM", "start/vllm"],
    ["llama.cpp", "start/llama-cpp"],
    ["Gemini", "start/google-gemini"],
    ["Claude", "start/anthropic"],
    ["Mistral", "start/mistral"],
    ["Groq", "start/groq"],
    ["DeepSeek", "start/deepseek"],
    ["Grok", "start/xai"],
    ["OpenRouter", "start/openrouter"],
    ["troubleshooting", "start/troubleshooting"],
    ["certificate error", "start/troubleshooting"],
    ["port in use", "start/troubleshooting"],
    ["connection refused", "start/troubleshooting"],
    ["semver", "start/versioning"],
    ["deprecation", "start/versioning"],
    ["breaking changes", "start/versioning"],
    ["GDPR", "operate/erase-a-user"],
    ["uninstall", "operate/uninstall"],
    ["remove", "operate/uninstall"],
    ["Caddy", "operate/https"],
    ["nginx", "operate/https"],
    ["reverse proxy", "operate/https"],
    ["Docker", "operate/container"],
    ["Kubernetes", "operate/cluster-kubernetes"],
    ["SSE", "guides/streaming"],
    ["streaming", "guides/streaming"],
    ["webhooks", "guides/webhooks"],
    ["webhok", "guides/webhooks"],
    ["stremaing", "guides/streaming"],
    ["backup", "operate/backup"],
    ["upgrade", "operate/upgrade"],
    ["MCP server", "guides/mcp"],
    ["OpenAPI", "guides/openapi"],
    ["human in the loop", "guides/approvals"],
    ["approve", "guides/approvals"],
    ["evals", "guides/suites-in-ci"],
    ["guardrails", "guides/guardrails"],
    ["PII", "guides/guardrails"],
    ["cron", "guides/schedules"],
    ["multi-agent", "guides/sub-agents"],
    ["JSON schema", "guides/structured-output"],
    ["prompt caching", "guides/prompt-caching"],
    ["cache", "guides/prompt-caching"],
    ["costs", "guides/costs"],
    ["rate limits", "guides/rate-limits-and-idempotency"],
    ["429", "guides/rate-limits-and-idempotency"],
    ["retries", "guides/rate-limits-and-idempotency"],
    ["Grafana", "operate/monitoring"],
    ["OpenTelemetry", "operate/monitoring"],
    ["Slack", "guides/slack"],
    ["LangGraph", "guides/from-langgraph"],
    ["Assistants API", "guides/from-openai-assistants"],
    ["vector database", "guides/memory"],
    ["Ollama", "start/ollama"],
    ["Bedrock", "start/amazon-bedrock"],
    ["TLS certificate", "start/certificates"],
    ["rotate a key", "guides/api-keys"],
    ["SDK", "start/clients"],
    ["Next.js", "guides/nextjs"],
    ["Express", "guides/express"],
    ["function calling", "guides/client-tools"],
    ["vision", "guides/images-and-documents"],
    ["forking a run", "guides/replay-fork-compare"],
    ["compared", "explain/compared-with"],
    ["alternative", "explain/compared-with"],
    ["vs LangGraph", "explain/compared-with"],
    ["Temporal vs", "explain/compared-with"],
    ["migrate", "explain/compared-with"],
    ["migrate from LangGraph", "guides/from-langgraph"],
    ["Mastra", "guides/from-mastra"],
    ["VoltAgent", "guides/from-voltagent"],
    ["Agno", "guides/from-agno"],
    ["Temporal", "guides/from-temporal"],
    ["Restate", "guides/from-temporal"],
    ["OpenAI Agents SDK", "guides/from-openai-agents-sdk"],
    ["Claude Agent SDK", "guides/from-claude-agent-sdk"],
  ])("for %p finds its page first", (question, path) => {
    expect(find(question)[0]?.path).toBe(path);
  });

  test("for the title of a page finds it first", () => {
    const missed = writtenPages()
      .map(({ path, title }) => [path.replace(/(^|\/)index$/, ""), find(title)[0]?.path, title])
      .filter(([path, found]) => path !== found);
    expect(missed).toEqual([]);
  });

  test("finds pages with some of the words if none has all", () => {
    expect(find("webhooks zzzzzzzz")[0]?.path).toBe("guides/webhooks");
  });

  test.each(["", "   ", "{", "zzzzzzzzzz", "\u0000", "ü"])("for %p is no error", (question) => {
    expect(find(question)).toBeArray();
  });

  test("tells the words of the page that match, also in another form or with a typing error", () => {
    expect(find("webhok")[0]?.matches).toContain("webhook");
  });

  test("loads less than the texts", () => {
    expect(size.index).toBeLessThan(size.texts);
  });

  test("has words for existing pages only", () => {
    const missing = Object.keys(searchWords).filter((path) => !paths.includes(path));
    expect(missing).toEqual([]);
  });
});
