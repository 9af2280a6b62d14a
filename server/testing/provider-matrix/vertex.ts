import type { MatrixEntry } from "./entry.ts";
import { anthropic, google } from "./sdk-providers.ts";

/** Google Vertex AI serves both formats under addresses of its own, and refuses in Google's words. */
const vertex = {
  provider: "vertex",
  overflow: google.overflow,
  rate_limit: {
    status: 429,
    body: {
      error: {
        code: 429,
        message: "Resource exhausted. Please try again later.",
        status: "RESOURCE_EXHAUSTED",
      },
    },
  },
  retry_after_ms: null,
  outage: {
    status: 503,
    body: { error: { code: 503, message: "The service is currently unavailable.", status: "UNAVAILABLE" } },
  },
} as const;

const gemini: MatrixEntry = {
  ...google,
  ...vertex,
  name: "Vertex AI, Gemini",
  source: "docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference",
};

const claude: MatrixEntry = {
  ...anthropic,
  ...vertex,
  name: "Vertex AI, Claude",
  model: "claude-sonnet-4-5@20250929",
  source: "platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai",
  structured: (output) => ({ calls: [{ name: "json", args: output }], finish: "tool_calls" }),
  overflow: anthropic.overflow, // Claude's own server says it.
};

/** Models of Google Vertex AI. */
export const vertexProviders: MatrixEntry[] = [gemini, claude];
