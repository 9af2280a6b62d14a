import { chatStream } from "./chat-stream.ts";
import type { MatrixEntry } from "./entry.ts";

const counts = { prompt_tokens: 36, completion_tokens: 12, total_tokens: 48 };
const details = {
  prompt_tokens_details: { cached_tokens: 8 },
  completion_tokens_details: { reasoning_tokens: 5 },
};
const all = { input_tokens: 36, output_tokens: 12, cached_input_tokens: 8, reasoning_tokens: 5 };
const plainCounts = { ...all, cached_input_tokens: null, reasoning_tokens: null };
const busy = { status: 503, body: { error: { message: "The server is overloaded.", type: "server_error" } } };
const common = { stop_field: "stop", has_reasoning: true, outage: busy } as const;

const mistral: MatrixEntry = {
  ...common,
  name: "Mistral",
  provider: "mistral",
  model: "mistral-medium-3-5",
  source: "docs.mistral.ai/api",
  stream: (answer) =>
    chatStream(answer, {
      model: "mistral-medium-3-5",
      reasoning: (text) => ({ content: [{ type: "thinking", thinking: [{ type: "text", text }] }] }),
      callId: (index) => `D681PevK${index}`,
      usage: counts,
      isUsageLast: true,
      finish: { length: "model_length", content_filter: "content_filter" },
    }),
  usage: plainCounts,
  overflow: {
    status: 400,
    body: {
      object: "error",
      message:
        "Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
      type: "invalid_request_prompt",
      param: null,
      code: "3051",
    },
  },
  rate_limit: {
    status: 429,
    body: { object: "error", message: "Requests rate limit exceeded", type: "rate_limited", param: null, code: "1300" },
  },
  retry_after_ms: null,
};

const groq: MatrixEntry = {
  ...common,
  name: "Groq",
  provider: "groq",
  model: "openai/gpt-oss-120b",
  source: "console.groq.com/docs/reasoning",
  stream: (answer) =>
    chatStream(answer, {
      model: "openai/gpt-oss-120b",
      reasoning: (reasoning) => ({ reasoning, channel: "analysis" }),
      callId: (index) => `fc_${index}`,
      usage: { ...counts, ...details, queue_time: 0.01, total_time: 0.2 },
      more: { system_fingerprint: "fp_1" },
      moreAtEnd: { x_groq: { id: "req_1", usage: { ...counts, ...details } } },
    }),
  usage: all,
  overflow: {
    status: 400,
    body: {
      error: {
        message: "Please reduce the length of the messages or completion.",
        type: "invalid_request_error",
        param: "messages",
        code: "context_length_exceeded",
      },
    },
  },
  rate_limit: {
    status: 429,
    headers: { "retry-after": "7" },
    body: { error: { message: "Rate limit reached for model.", type: "tokens", code: "rate_limit_exceeded" } },
  },
  retry_after_ms: 7000,
};

const deepseek: MatrixEntry = {
  ...common,
  name: "DeepSeek",
  provider: "deepseek",
  model: "deepseek-v4-pro",
  source: "api-docs.deepseek.com/guides/thinking_mode",
  stream: (answer) =>
    chatStream(answer, {
      model: "deepseek-v4-pro",
      before: ": keep-alive\n\n",
      reasoning: (reasoning_content) => ({ content: null, reasoning_content }),
      callId: (index) => `call_00_${index}aBcD`,
      isPiecewise: true,
      usage: { ...counts, ...details, prompt_cache_hit_tokens: 8, prompt_cache_miss_tokens: 28 },
      isUsageLast: true,
      more: { system_fingerprint: "fp_1" },
      moreOfChoice: { logprobs: null },
    }),
  usage: all,
  overflow: {
    status: 400,
    body: {
      error: {
        message:
          "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (69000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
        type: "invalid_request_error",
        param: null,
        code: "invalid_request_error",
      },
    },
  },
  rate_limit: { status: 429, body: { error: { message: "Rate limit reached.", type: "rate_limit_error" } } },
  retry_after_ms: null,
};

const xai: MatrixEntry = {
  ...common,
  name: "xAI",
  provider: "xai",
  model: "grok-4.3",
  source: "docs.x.ai/docs/api-reference",
  stream: (answer) =>
    chatStream(answer, {
      model: "grok-4.3",
      usage: { prompt_tokens: 36, completion_tokens: 7, total_tokens: 48, ...details, num_sources_used: 0 },
      more: { system_fingerprint: "fp_1" },
    }),
  usage: all,
  overflow: {
    status: 400,
    body: {
      code: "Client specified an invalid argument",
      error: "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
    },
  },
  rate_limit: {
    status: 429,
    body: { code: "Some resource has been exhausted", error: "Too many requests for team." },
  },
  retry_after_ms: null,
};

const openrouter: MatrixEntry = {
  ...common,
  name: "OpenRouter",
  provider: "openrouter",
  model: "google/gemini-3-pro",
  source: "openrouter.ai/docs/use-cases/reasoning-tokens",
  stream: (answer) =>
    chatStream(answer, {
      model: "google/gemini-3-pro",
      before: ": OPENROUTER PROCESSING\n\n",
      reasoning: (reasoning) => ({
        content: "",
        reasoning,
        reasoning_details: [{ type: "reasoning.text", text: reasoning, format: "google-gemini-v1", index: 0 }],
      }),
      callId: (index) => `tool_0_look_${index}`,
      usage: { ...counts, ...details, cost: 0.001, is_byok: false },
      more: { provider: "Google" },
      moreOfChoice: { native_finish_reason: null, logprobs: null },
    }),
  usage: all,
  overflow: {
    status: 400,
    body: {
      error: {
        message:
          "This endpoint's maximum context length is 131072 tokens. However, you requested about 200000 tokens (199000 of text input, 1000 in the output).",
        code: 400,
      },
    },
  },
  rate_limit: {
    status: 429,
    headers: { "retry-after": "3" },
    body: { error: { message: "Rate limit exceeded: free-models-per-min.", code: 429 } },
  },
  retry_after_ms: 3000,
};

const together: MatrixEntry = {
  ...common,
  name: "Together AI",
  provider: "together",
  model: "zai-org/GLM-5",
  source: "docs.together.ai/reference/chat-completions",
  stream: (answer) =>
    chatStream(answer, {
      model: "zai-org/GLM-5",
      reasoning: (reasoning) => ({ role: "assistant", content: "", reasoning }),
      isPiecewise: true,
      usage: { ...counts, cached_tokens: 0 },
      isUsageLast: true,
      moreOfChoice: { seed: 1, logprobs: null, text: "" },
      finish: { stop: "eos" },
    }),
  usage: { ...plainCounts, cached_input_tokens: 0 },
  overflow: {
    status: 422,
    body: {
      error: {
        message:
          "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`",
        type: "invalid_request_error",
        param: null,
        code: null,
      },
    },
  },
  rate_limit: {
    status: 429,
    headers: { "retry-after": "2" },
    body: { error: { message: "You have reached the rate limit.", type: "rate_limit", param: null, code: null } },
  },
  retry_after_ms: 2000,
};

const fireworks: MatrixEntry = {
  ...common,
  name: "Fireworks AI",
  provider: "fireworks",
  model: "accounts/fireworks/models/glm-5",
  source: "docs.fireworks.ai/guides/reasoning",
  stream: (answer) =>
    chatStream(answer, {
      model: "accounts/fireworks/models/glm-5",
      isPiecewise: true,
      usage: { ...counts, prompt_tokens_details: { cached_tokens: 8 } },
    }),
  usage: { ...all, reasoning_tokens: null },
  overflow: {
    status: 400,
    body: {
      error: {
        object: "error",
        type: "invalid_request_error",
        message: "The prompt is too long: 140000, model maximum context length: 131071",
      },
    },
  },
  rate_limit: {
    status: 429,
    body: { error: { object: "error", type: "rate_limit_error", message: "Request didn't generate first token." } },
  },
  retry_after_ms: null,
};

const azure: MatrixEntry = {
  ...common,
  name: "Azure OpenAI",
  provider: "azure",
  model: "gpt-5",
  source: "learn.microsoft.com/azure/foundry/openai/reference",
  stream: (answer) =>
    chatStream(
      { ...answer, reasoning: undefined },
      {
        model: "gpt-5-2025-08-07",
        before: `data: ${JSON.stringify({ choices: [], created: 0, id: "", model: "", object: "", prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] })}\n\n`,
        isPiecewise: true,
        usage: { ...counts, ...details },
        more: { system_fingerprint: "fp_1" },
        moreOfChoice: { content_filter_results: { hate: { filtered: false, severity: "safe" } }, logprobs: null },
      },
    ),
  usage: all,
  overflow: {
    status: 400,
    body: {
      error: {
        message: "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.",
        type: "invalid_request_error",
        param: "messages",
        code: "context_length_exceeded",
      },
    },
  },
  rate_limit: {
    status: 429,
    headers: { "retry-after": "12" },
    body: { error: { code: "429", message: "Requests have exceeded call rate limit of your current pricing tier." } },
  },
  retry_after_ms: 12_000,
  has_reasoning: false,
};

const ollama: MatrixEntry = {
  ...common,
  name: "Ollama",
  provider: "ollama",
  model: "qwen3:8b",
  source: "docs.ollama.com/api/openai-compatibility",
  stream: (answer) =>
    chatStream(answer, {
      model: "qwen3:8b",
      reasoning: (reasoning) => ({ role: "assistant", content: "", reasoning }),
      usage: counts,
      more: { system_fingerprint: "fp_ollama" },
    }),
  usage: plainCounts,
  overflow: {
    status: 400,
    body: {
      error: { message: "the input length exceeds the context length", type: "invalid_request_error", code: null },
    },
  },
  rate_limit: { status: 429, body: { error: { message: "server busy, please try again", type: "api_error" } } },
  retry_after_ms: null,
};

const vllm: MatrixEntry = {
  ...common,
  name: "vLLM",
  provider: "openai_compatible",
  model: "Qwen/Qwen3-8B",
  source: "docs.vllm.ai/en/latest/serving/openai_compatible_server",
  stream: (answer) =>
    chatStream(answer, {
      model: "Qwen/Qwen3-8B",
      callId: (index) => `chatcmpl-tool-${index}`,
      isPiecewise: true,
      usage: { ...counts, prompt_tokens_details: { cached_tokens: 8 } },
      moreOfChoice: { logprobs: null, stop_reason: null },
    }),
  usage: { ...all, reasoning_tokens: null },
  overflow: {
    status: 400,
    body: {
      error: {
        message:
          "This model's maximum context length is 8192 tokens. However, your request has 9000 input tokens. Please reduce the length of the input messages.",
        type: "BadRequestError",
        param: null,
        code: 400,
      },
    },
  },
  rate_limit: { status: 429, body: { error: { message: "Too many requests", type: "TooManyRequests", code: 429 } } },
  retry_after_ms: null,
};

const llamaCpp: MatrixEntry = {
  ...common,
  name: "llama.cpp",
  provider: "openai_compatible",
  model: "local",
  source: "github.com/ggml-org/llama.cpp/tree/master/tools/server",
  stream: (answer) =>
    chatStream(answer, {
      model: "local",
      isPiecewise: true,
      usage: counts,
      more: { system_fingerprint: "b6000" },
      moreAtEnd: { timings: { prompt_n: 36, predicted_n: 12 } },
    }),
  usage: plainCounts,
  overflow: {
    status: 400,
    body: {
      error: {
        code: 400,
        message: "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it",
        type: "exceed_context_size_error",
        n_prompt_tokens: 9000,
        n_ctx: 4096,
      },
    },
  },
  rate_limit: { status: 429, body: { error: { code: 429, message: "Too many requests", type: "rate_limit_error" } } },
  retry_after_ms: null,
  outage: { status: 503, body: { error: { code: 503, message: "Loading model", type: "unavailable_error" } } },
};

/** Providers and servers with OpenAI's chat completions. */
export const chatProviders: MatrixEntry[] = [
  mistral,
  groq,
  deepseek,
  xai,
  openrouter,
  together,
  fireworks,
  azure,
  ollama,
  vllm,
  llamaCpp,
];
