/** Words with which providers say that a prompt is too long. */
const overflows: readonly RegExp[] = [
  /context_length_exceeded|model_context_window_exceeded/i, // codes of OpenAI, Zhipu and others
  /exceeds? (the|model) context window|context length exceeded/i, // OpenAI, MiniMax, gateways
  /maximum (context|prompt|model|sequence) length/i, // OpenAI, vLLM, xAI, Mistral, SGLang, OpenRouter
  /prompt is too long|prompt too long|exceeds? (the )?context limit/i, // Anthropic, Fireworks, Ollama
  /exceeds the maximum number of tokens/i, // Google
  /exceed_context_size|exceeds the available context size/i, // llama.cpp
  /exceeds the (maximum )?context length|longer than the model's context length/i, // Ollama, SGLang
  /reduce the length of (the|your) (messages|prompt|input)/i, // Groq, Cerebras, Azure
  /request too large for model.*reduce your message size/i, // Groq
  /input is too long for requested model/i, // Bedrock
  /inputs`? tokens \+ `?max_new_tokens`? must be|`inputs` must have less than/i, // Together, Text Generation Inference
  /context the overflows|context length of only|greater than the context length/i, // LM Studio
  /exceeded model token limit/i, // Moonshot
  /prompt exceeds max length|prompt 超长/i, // Zhipu
  /exceeds the maximum allowed input length/i, // Poolside
  /tokens, but the configured context size is|context size has been exceeded/i, // local servers
  /tokens in request more than max tokens allowed/i, // gateways
  /range of input length should be/i, // Qwen
  /context window exceeds limit/i, // MiniMax
  /prompt token count of \d+ exceeds|model_max_prompt_tokens_exceeded/i, // GitHub
  /too many tokens: (total|size)/i, // Cohere
];

export const saysOverflow = (text: string): boolean => overflows.some((pattern) => pattern.test(text));

/** True if a request alone exceeds the limit of a minute: waiting does not help, a shorter request does. */
export function exceedsRate(text: string): boolean {
  const [, limit, requested] = /request too large.*\blimit:? (\d+).*\brequested:? (\d+)/i.exec(text) ?? [];
  return limit !== undefined && Number(requested) > Number(limit);
}

const noCredit =
  /insufficient[ _](balance|credit|fund|quota)|credit balance is too low|used all available credits|exceeded_current_quota|payment_required|please recharge|余额不足|额度不足|(?:reached|exceeded) (?:its|your) (?:monthly )?spending limit/i;

/** True if the account behind a connection has no money left. */
export const saysNoCredit = (text: string): boolean => noCredit.test(text);

const filters =
  /\bcontent_filter\b|responsibleaipolicyviolation|data_inspection_failed|content_policy_violation|content management policy|requires moderation/i;

/** True if a content filter refused a request. */
export const saysFiltered = (text: string): boolean => filters.test(text);

// llama.cpp, whose server calls each of these a failure of its own.
const unsupported =
  /\b(image|audio|video) input is not supported|does not support multimodal|unsupported content part type|param requires --jinja/i;

/** True if the server does not take a part of the request, now or later. */
export const saysUnsupported = (text: string): boolean => unsupported.test(text);

const unit_ms: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** Returns the delay that a message asks for: "try again in 1h2m3.5s", "retry after 12 seconds"; null if none. */
export function delayInWords(text: string): number | null {
  const said = /\b(?:try again|retry|wait)\b[^.\d]{0,24}((?:\d+(?:\.\d+)?\s?(?:ms|h|m|s)[a-z]{0,11}\s?){1,4})/i.exec(
    text,
  )?.[1];
  if (said === undefined) return null;
  let sum = 0;
  for (const [, count, unit] of said.matchAll(/(\d+(?:\.\d+)?)\s?(ms|milli|h|m|s)/gi))
    sum += Number(count) * unit_ms[unit!.toLowerCase().replace("milli", "ms")]!;
  return Math.ceil(sum);
}

/** True for a refusal that is about the end of a token: some servers send it with 403. */
export const saysTokenExpired = (text: string): boolean =>
  /\b(invalid|expired)[_ ](access[_ ])?token\b|\btoken (is |has |was )?(expired|invalid)\b/i.test(text);
