import { gzipSync } from "node:zlib";
import {
  chunk,
  counted,
  counts,
  delta,
  done,
  type Expected,
  event,
  finish,
  json,
  type ServerAnswer,
  text,
  usage,
} from "./chunks.ts";

type Failure = NonNullable<Expected["error"]>;

const died = "Engine died of E-77";
const passing = { code: "model_error", retryable: true, says: died } as const;
const lasting = { code: "model_error", retryable: false } as const;
const noCredit = { code: "model_rate_limited", retryable: false, says: "no credit" } as const;

/** A response with a status and a JSON body. */
const response = (title: string, status: number, body: unknown, error: Failure, headers = {}): ServerAnswer => ({
  title,
  status,
  headers: { ...json, ...headers },
  chunks: [JSON.stringify(body)],
  end: { error },
});

/** An error within a stream. */
const inStream = (title: string, chunks: readonly string[], error: Failure, more: Expected = {}): ServerAnswer => ({
  title,
  chunks,
  end: { ...more, error },
});

const said = { text: "Hel" };

/** Errors inside a response that says 200. */
const inside: readonly ServerAnswer[] = [
  inStream(
    "an event of the type error",
    [text("Hel"), `event: error\ndata: {"message":"${died}","status_code":500}\n\n`],
    passing,
    said,
  ),
  inStream("an event of the type error with a sentence", [`event: error\ndata: ${died}\n\n`], passing),
  inStream("an event of the type error with a quoted sentence", [`event: error\ndata: "${died}"\n\n`], passing),
  inStream(
    "an object that is called error",
    [event({ object: "error", message: died, type: "InternalServerError", code: 500 }), done],
    passing,
  ),
  inStream(
    "an object that is called error, after text, with the status 400",
    [text("Hel"), event({ object: "error", message: died, type: "BadRequestError", param: null, code: 400 }), done],
    { ...lasting, says: died },
    said,
  ),
  inStream("an error that is a text", [event({ error: died }), done], passing),
  inStream("a detail", [event({ detail: died }), done], passing),
  inStream("a detail that is a list", [event({ detail: [{ loc: ["body", "stop"], msg: died }] }), done], {
    says: `stop: ${died}`,
  }),
  inStream(
    "an error of Groq's own field",
    [text("Hel"), chunk({ choices: [], x_groq: { error: died } }), done],
    passing,
    said,
  ),
  inStream(
    "an overflow",
    [
      event({
        error: {
          message: "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens",
          type: "BadRequestError",
          code: 400,
        },
      }),
      done,
    ],
    { code: "context_length_exceeded", says: "4096" },
  ),
  inStream(
    "an overflow as an object that is called error",
    [
      event({
        object: "error",
        message: "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens",
        type: "BadRequestError",
        code: 400,
      }),
      done,
    ],
    { code: "context_length_exceeded", says: "4096" },
  ),
  inStream(
    "the status 400",
    [event({ error: { message: "bad thing E-77", type: "BadRequestError", code: 400 } }), done],
    { ...lasting, says: "bad thing E-77" },
  ),
  inStream("the status 401", [event({ error: { message: "User not found E-77.", code: 401 } }), done], {
    code: "model_not_available",
    retryable: false,
    says: "User not found E-77.",
  }),
  inStream("the status 402", [event({ error: { message: "Insufficient credits E-77", code: 402 } }), done], {
    ...noCredit,
    says: "Insufficient credits E-77",
  }),
  inStream(
    "the status 429",
    [event({ error: { message: "Slow down E-77, please try again in 2.5s", code: 429 } }), done],
    { code: "model_rate_limited", retryable: true, retry_after_ms: 2500, says: "E-77" },
  ),
  inStream("the status as a text", [event({ error: { message: "Slow down E-77", code: "429" } }), done], {
    code: "model_rate_limited",
    retryable: true,
    says: "E-77",
  }),
  response(
    "a JSON error with the status 502",
    200,
    { error: { message: died, code: 502 } },
    { ...passing, unready: true },
  ),
  response(
    "a JSON error with the status 400",
    200,
    { error: { message: "Bad thing E-77", code: 400 } },
    { ...lasting, says: "Bad thing E-77" },
  ),
  response(
    "a base_resp without balance",
    200,
    { choices: null, base_resp: { status_code: 1008, status_msg: "insufficient balance E-77" } },
    { ...noCredit, says: "insufficient balance E-77" },
  ),
  response(
    "a base_resp with a rate limit",
    200,
    { choices: null, base_resp: { status_code: 1002, status_msg: "rate limit E-77" } },
    { code: "model_rate_limited", retryable: true, says: "E-77" },
  ),
  response(
    "a base_resp with a refused key",
    200,
    { base_resp: { status_code: 1004, status_msg: "login fail E-77" } },
    { code: "model_not_available", retryable: false, says: "E-77" },
  ),
  response("a code and a msg", 200, { code: 50001, msg: died, success: false, data: null }, passing),
  response(
    "no choices",
    200,
    {
      id: "x",
      object: "chat.completion",
      choices: [],
      usage: { prompt_tokens: 1, completion_tokens: 0, total_tokens: 1 },
    },
    { code: "model_incomplete", retryable: true, says: "before it was complete" },
  ),
  inStream(
    "an error in the choice",
    [text("Hel"), delta({ content: "" }, "error", { error: { code: 502, message: died } }), done],
    passing,
    said,
  ),
  ...[
    "error",
    "abort",
    "insufficient_system_resource",
    "network_error",
    "malformed_function_call",
    "function_call_filter: MALFORMED_FUNCTION_CALL",
  ].map((reason) =>
    inStream(
      `the finish reason ${reason}`,
      [text("Hel"), finish(reason), usage, done],
      { code: "model_error", retryable: true, says: reason },
      { ...said, usage: counted },
    ),
  ),
];

/** Refusals by their status. */
const refusals: readonly ServerAnswer[] = [
  response(
    "a call that could not be read",
    400,
    {
      error: {
        message: "Failed to call a function.",
        type: "invalid_request_error",
        code: "tool_use_failed",
        failed_generation: "<function=look",
      },
    },
    { code: "model_error", retryable: true, unread_answer: "<function=look", says: "Failed to call a function." },
  ),
  response(
    "JSON that could not be read",
    400,
    {
      error: {
        message: "Failed to generate JSON.",
        type: "invalid_request_error",
        code: "json_validate_failed",
        failed_generation: "",
      },
    },
    { code: "model_error", retryable: true, unread_answer: "", says: "Failed to generate JSON." },
  ),
  response(
    "429 of a rate, with a length",
    429,
    {
      error: {
        message:
          "Rate limit reached: Limit 6000, Used 5000, Requested 3000. Please reduce the length of the messages. E-77",
      },
    },
    { code: "model_rate_limited", retryable: true, says: "E-77" },
  ),
  response(
    "an empty account, in Chinese",
    429,
    { error: { code: "1113", message: "余额不足或无可用资源包,请充值。" } },
    { ...noCredit, says: "余额不足" },
  ),
  response(
    "an error of the provider behind a router",
    502,
    {
      error: { message: "Provider returned error", code: 502, metadata: { raw: "upstream E-77", provider_name: "X" } },
    },
    { code: "model_error", retryable: true, says: "upstream E-77" },
  ),
  {
    title: "a compressed refusal",
    status: 400,
    headers: { ...json, "content-encoding": "gzip" },
    chunks: [gzipSync(JSON.stringify({ error: { message: "squeezed reason" } }))],
    end: { error: { ...lasting, says: "squeezed reason" } },
  },
  response(
    "402",
    402,
    { error: { message: "Insufficient credits E-77", code: 402 } },
    { ...noCredit, says: "Insufficient credits E-77" },
  ),
  response(
    "402 with a sentence alone",
    402,
    { error: "Insufficient Balance" },
    { ...noCredit, says: "Insufficient Balance" },
  ),
  response(
    "429 of an empty account",
    429,
    { error: { code: "1113", message: "Insufficient balance or no resource package. Please recharge." } },
    { ...noCredit, says: "Please recharge" },
  ),
  response(
    "429 with the time in words",
    429,
    {
      error: { message: "Rate limit reached. Please try again in 20m0s.", type: "tokens", code: "rate_limit_exceeded" },
    },
    { code: "model_rate_limited", retryable: true, retry_after_ms: 1_200_000, says: "20m0s" },
  ),
  response(
    "429 with the time in milliseconds",
    429,
    { error: { message: "Please try again in 250ms. E-77" } },
    { code: "model_rate_limited", retryable: true, retry_after_ms: 250, says: "E-77" },
  ),
  response(
    "429 with the time in hours",
    429,
    { error: { message: "Please try again in 1h2m3.5s. E-77" } },
    { retry_after_ms: 3_723_500, says: "E-77" },
  ),
  response(
    "429 with the time in seconds, as a word",
    429,
    { error: { message: "Please retry after 12 seconds. E-77" } },
    { retry_after_ms: 12_000, says: "E-77" },
  ),
  response(
    "429 with a header of an hour",
    429,
    { error: { message: "slow down", type: "rate_limit" } },
    { code: "model_rate_limited", retryable: true, retry_after_ms: 3_600_000, says: "slow down" },
    { "retry-after": "3600" },
  ),
  {
    title: "503 with a page",
    status: 503,
    headers: { "content-type": "text/html" },
    chunks: ["<html>busy</html>"],
    end: { error: { code: "model_error", retryable: true, unready: true, says: "HTTP 503" } },
  },
  {
    title: "524 with a page",
    status: 524,
    headers: { "content-type": "text/html" },
    chunks: ["<html>timeout</html>"],
    end: { error: { code: "model_error", retryable: true, unready: true, says: "HTTP 524" } },
  },
  response(
    "529",
    529,
    { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    { code: "model_error", retryable: true, unready: true, says: "Overloaded" },
  ),
  response(
    "a filter of the prompt",
    400,
    {
      error: {
        message: "The response was filtered due to the prompt triggering a content management policy.",
        type: null,
        param: "prompt",
        code: "content_filter",
        status: 400,
        innererror: { code: "ResponsibleAIPolicyViolation", content_filter_result: {} },
      },
    },
    { ...lasting, filtered: true, says: "content filter" },
  ),
  response(
    "an inspection of the prompt",
    400,
    { error: { code: "data_inspection_failed", message: "Input data may contain inappropriate content. E-77" } },
    { ...lasting, filtered: true, says: "E-77" },
  ),
  response(
    "401 with a message at the top",
    401,
    {
      statusCode: 401,
      message: "Unauthorized. Access token is missing, invalid, audience is incorrect, or have expired.",
    },
    { code: "model_not_available", retryable: false, says: "audience is incorrect" },
  ),
  response(
    "403 for a region",
    403,
    { error: { message: "Country, region, or territory not supported E-77" } },
    { code: "model_not_available", retryable: false, says: "E-77" },
  ),
  response(
    "404 for a model",
    404,
    { object: "error", message: "The model `x` does not exist.", type: "NotFoundError", param: null, code: 404 },
    { code: "model_not_available", retryable: false, says: "The model `x` does not exist." },
  ),
  response(
    "404 for models with tools",
    404,
    { error: { message: "No endpoints found that support tool use.", code: 404 } },
    { code: "model_not_available", retryable: false, says: "support tool use" },
  ),
  response(
    "a model without tools",
    400,
    {
      error: {
        message: "registry.ollama.ai/library/gemma:2b does not support tools",
        type: "api_error",
        param: null,
        code: null,
      },
    },
    { ...lasting, says: "does not support tools" },
  ),
  response(
    "422 with a list of details",
    422,
    {
      detail: [
        {
          type: "extra_forbidden",
          loc: ["body", "stream_options", "include_usage"],
          msg: "Extra inputs are not permitted",
          input: true,
        },
        { loc: ["body", "seed"], msg: "Input should be a valid integer" },
      ],
    },
    {
      ...lasting,
      says: "stream_options.include_usage: Extra inputs are not permitted; seed: Input should be a valid integer",
    },
  ),
  response(
    "a list of errors",
    400,
    { errors: [{ message: "bad thing E-77" }] },
    { ...lasting, says: "bad thing E-77" },
  ),
  response(
    "an error with an inner message",
    400,
    { error: { code: "BadRequest", message: "", innererror: { message: "bad thing E-77" } } },
    { ...lasting, says: "bad thing E-77" },
  ),
];

/** The words with which servers say that a prompt is too long. */
const overflows: readonly (readonly [string, number, unknown])[] = [
  [
    "Groq, larger than a minute's tokens",
    413,
    {
      error: {
        message:
          "Request too large for model `llama` in organization `o` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again.",
        type: "tokens",
        code: "rate_limit_exceeded",
      },
    },
  ],
  [
    "llama.cpp",
    400,
    {
      error: {
        code: 400,
        message: "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it",
        type: "exceed_context_size_error",
        n_prompt_tokens: 9000,
        n_ctx: 4096,
      },
    },
  ],
  [
    "LM Studio",
    400,
    {
      error:
        "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input",
    },
  ],
  [
    "Mistral",
    400,
    {
      object: "error",
      message: "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
      type: "invalid_request_prompt",
      param: null,
      code: "3051",
    },
  ],
  [
    "OpenRouter",
    400,
    {
      error: {
        message:
          "This endpoint's maximum context length is 131072 tokens. However, you requested about 200000 tokens (199000 of text input, 1000 in the output).",
        code: 400,
      },
    },
  ],
  [
    "vLLM, with a length for the answer",
    400,
    {
      error: {
        message:
          "'max_tokens' or 'max_completion_tokens' is too large: 8000. This model's maximum context length is 8192 tokens and your request has 1000 input tokens (8000 > 8192 - 1000). None",
        type: "BadRequestError",
        param: null,
        code: 400,
      },
    },
  ],
  [
    "vLLM, by its decoder",
    400,
    {
      object: "error",
      message:
        "The decoder prompt (length 9000) is longer than the maximum model length of 8192. Make sure that `max_model_len` is no smaller than the number of text tokens.",
      type: "BadRequestError",
      code: 400,
    },
  ],
  [
    "Together",
    422,
    {
      error: {
        message:
          "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`",
        type: "invalid_request_error",
      },
    },
  ],
  [
    "DeepSeek",
    400,
    {
      error: {
        message:
          "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (69000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
        type: "invalid_request_error",
      },
    },
  ],
  ["Bedrock", 400, { message: "Input is too long for requested model." }],
  [
    "xAI",
    400,
    {
      code: "Client specified an invalid argument",
      error: "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
    },
  ],
  [
    "Cerebras",
    400,
    {
      message: "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192",
      type: "invalid_request_error",
      param: "messages",
      code: "context_length_exceeded",
    },
  ],
  [
    "SGLang",
    400,
    {
      object: "error",
      message: "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
      type: "BadRequestError",
      code: 400,
    },
  ],
  [
    "Azure OpenAI",
    400,
    {
      error: {
        message:
          "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens. Please reduce the length of the messages.",
        type: "invalid_request_error",
        param: "messages",
        code: "context_length_exceeded",
      },
    },
  ],
  [
    "Moonshot",
    400,
    {
      error: {
        message: "Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)",
        type: "invalid_request_error",
      },
    },
  ],
  ["Zhipu", 400, { error: { code: "1261", message: "Prompt exceeds max length" } }],
  [
    "Qwen",
    400,
    {
      error: {
        code: "invalid_parameter_error",
        message: "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
        type: "invalid_request_error",
      },
    },
  ],
  [
    "MiniMax",
    400,
    {
      error: {
        type: "bad_request_error",
        message: "invalid params, context window exceeds limit (2013)",
        http_code: "400",
      },
    },
  ],
  [
    "GitHub Models",
    400,
    {
      error: {
        message: "prompt token count of 140000 exceeds the limit of 128000",
        code: "model_max_prompt_tokens_exceeded",
      },
    },
  ],
  [
    "Ollama",
    400,
    { error: { message: "prompt too long; exceeded max context length by 500 tokens", type: "invalid_request_error" } },
  ],
  [
    "SGLang, with a length for the answer",
    400,
    {
      object: "error",
      message:
        "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of 9000 tokens",
      type: "BadRequestError",
      code: 400,
    },
  ],
  [
    "Poolside",
    400,
    { error: { message: "Input length 300000 exceeds the maximum allowed input length of 262144 tokens" } },
  ],
  [
    "a local server",
    400,
    { error: { message: "Prompt has 9000 tokens, but the configured context size is 4096 tokens" } },
  ],
  ["LM Studio, while it answers", 400, { error: "Context size has been exceeded." }],
  ["a gateway", 400, { error: { message: "Request size exceeds model context window" } }],
  ["another gateway", 400, { error: { message: "tokens in request more than max tokens allowed" } }],
  ["Zhipu, in Chinese", 400, { error: { code: "1261", message: "Prompt 超长" } }],
  ["a proxy, with a bare 413", 413, {}],
  [
    "vLLM, with a prompt of unknown length",
    400,
    {
      error: {
        message:
          "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens.",
        type: "BadRequestError",
        param: "input_tokens",
        code: 400,
      },
    },
  ],
  [
    "OpenAI, larger than a minute's tokens",
    429,
    {
      error: {
        message:
          "Request too large for gpt-5 in organization org-1 on tokens per min (TPM): Limit 30000, Requested 40000.",
        type: "tokens",
        code: "rate_limit_exceeded",
      },
    },
  ],
  [
    "a provider behind OpenRouter",
    400,
    {
      error: {
        message: "Provider returned error",
        code: 400,
        metadata: { provider_name: "X", raw: '{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}' },
      },
    },
  ],
];

const told: readonly ServerAnswer[] = overflows.map(([title, status, body]) =>
  response(`too long for ${title}`, status, body, {
    code: "context_length_exceeded",
    retryable: false,
    says: "longer than the model's context",
  }),
);

/** Responses that fail, and what they mean. */
export const failureAnswers: readonly ServerAnswer[] = [...inside, ...refusals, ...told];

const number = (title: string, given: object, expected: NonNullable<Expected["usage"]>): ServerAnswer => ({
  title,
  chunks: [text("Hello"), finish("stop"), chunk({ choices: [], usage: given }), done],
  end: { text: "Hello", finish: "stop", usage: expected },
});

const unknown = { input_tokens: null, output_tokens: null };

/** Places and forms of token counts. */
export const usageAnswers: readonly ServerAnswer[] = [
  number(
    "fractions",
    { prompt_tokens: 20.0, completion_tokens: 5.5, total_tokens: 25 },
    { input_tokens: 20, output_tokens: 6 },
  ),
  {
    title: "in the choice",
    chunks: [text("Hello"), delta({}, "stop", { usage: counts }), done],
    end: { usage: counted },
  },
  {
    title: "in Groq's own field",
    chunks: [
      text("Hello"),
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }], x_groq: { id: "r", usage: counts } }),
      done,
    ],
    end: { usage: counted },
  },
  number(
    "reasoning beside the answer",
    { ...counts, total_tokens: 525, completion_tokens_details: { reasoning_tokens: 500 } },
    { output_tokens: 505, reasoning_tokens: 500 },
  ),
  number(
    "cache hits as DeepSeek counts them",
    { ...counts, prompt_cache_hit_tokens: 12, prompt_cache_miss_tokens: 8 },
    { ...counted, cached_input_tokens: 12 },
  ),
  number(
    "cache hits as Moonshot counts them",
    { ...counts, cached_tokens: 12 },
    { ...counted, cached_input_tokens: 12 },
  ),
  number(
    "cache hits as OpenAI counts them",
    { ...counts, prompt_tokens_details: { cached_tokens: 12 } },
    { ...counted, cached_input_tokens: 12 },
  ),
  number("names of other providers", { input_tokens: 20, output_tokens: 5 }, counted),
  {
    title: "in each chunk",
    chunks: [
      chunk({
        choices: [{ index: 0, delta: { content: "Hello" } }],
        usage: { prompt_tokens: 20, completion_tokens: 1, total_tokens: 21 },
      }),
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage: counts }),
      chunk({ choices: [], usage: null }),
      done,
    ],
    end: { text: "Hello", usage: counted },
  },
  {
    title: "zero after a real count",
    chunks: [
      chunk({ choices: [{ index: 0, delta: { content: "Hello" }, finish_reason: "stop" }], usage: counts }),
      chunk({ choices: [], usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } }),
      done,
    ],
    end: { text: "Hello", usage: counted },
  },
  { title: "none", chunks: [text("Hello"), finish("stop"), done], end: { usage: unknown } },
  number("texts with digits", { prompt_tokens: "20", completion_tokens: "5" }, counted),
  number("negative counts", { prompt_tokens: -20, completion_tokens: -5 }, unknown),
  number("words", { prompt_tokens: "many", completion_tokens: "NaN" }, unknown),
  number("more than any model can count", { prompt_tokens: 1e15, completion_tokens: 1e15 }, unknown),
  number(
    "more cached tokens than there are",
    { ...counts, prompt_tokens_details: { cached_tokens: 500 } },
    { ...counted, cached_input_tokens: null },
  ),
  number("a list", [] as object, unknown),
];
