/** Sizes and counts that clients meet (contract, section 17). Bytes, milliseconds or counts, as the name says. */
export const limits = {
  body_bytes: 1024 * 1024,
  json_depth: 64,
  /** Of the body of a list. */
  page_bytes: 1024 * 1024,
  /** Of all messages of an input together. */
  input_bytes: 256 * 1024,
  input_messages: 200,
  instructions_bytes: 256 * 1024,
  tool_arguments_bytes: 64 * 1024,
  tool_output_bytes: 256 * 1024,
  /** What is read of a tool's answer; what is above `tool_output_bytes` is kept as a file. */
  tool_answer_bytes: 4 * 1024 * 1024,
  /** Texts that outputs are searched for, of one tool, and their characters; of all tools of a run together. */
  tool_secrets: 256,
  tool_secrets_length: 65_536,
  run_secrets_length: 524_288,
  file_bytes: 100 * 1024 * 1024,
  tools_per_agent: 128,
  files_per_run: 20,
  /** Of an agent, a key, a store, a schedule, a suite and a project, in characters. */
  name_length: 128,
  /** Of the id of a user or a session, as the client calls them. */
  subject_length: 255,
  title_length: 255,
  metadata_pairs: 16,
  metadata_key_length: 64,
  metadata_value_length: 512,
  temperature: 2,
  output_tokens: 10_000_000,
  budget_usd: 1_000_000,
  budget_tokens: 1_000_000_000_000,
  cases_per_suite: 500,
  /** How many runs may stand above one that a run's call started. */
  agent_depth: 5,
  stream_readers_per_run: 20,
  queued_runs: 1000,
  /** Of a thread's history, as each run of it journals it. */
  history_bytes: 1024 * 1024,
  memory_stores: 500,
  keys_per_scope: 10_000,
  key_length: 512,
  key_value_bytes: 100 * 1024,
  /** Of a `scope_id`: a user or a session. */
  scope_id_length: 255,
  embedding_dimensions: 4096,
  search_query_bytes: 8 * 1024,
  search_top_k: 50,
  run_timeout_ms: 3_600_000,
  action_timeout_ms: 24 * 3_600_000,
  action_timeout_max_ms: 30 * 24 * 3_600_000,
} as const;
