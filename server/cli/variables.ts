interface Variable {
  name: string;
  meaning: string;
}

/** The environment variables that the server reads and no flag stands for. `<NAME>` is a name that the operator chooses. */
export const variables: readonly Variable[] = [
  {
    name: "RUNNEL_MASTER_KEY",
    meaning:
      "The key that encrypts stored secrets, as 64 hexadecimal digits. It takes the place of the file `master.key`.",
  },
  { name: "OPENAI_API_KEY", meaning: "The API key for models `openai/…`." },
  { name: "ANTHROPIC_API_KEY", meaning: "The API key for models `anthropic/…`." },
  { name: "GOOGLE_GENERATIVE_AI_API_KEY", meaning: "The API key for models `google/…`." },
  { name: "OLLAMA_BASE_URL", meaning: "Where Ollama is, if it is not on port 11434 of this machine." },
  {
    name: "RUNNEL_MODEL_<NAME>_BASE_URL",
    meaning: "The address of a server with OpenAI's API, for models `openai_compatible/<name>/…`.",
  },
  { name: "RUNNEL_MODEL_<NAME>_API_KEY", meaning: "The API key for that server, if it asks for one." },
  {
    name: "RUNNEL_MODEL_<NAME>_MAX_CONCURRENT",
    meaning: "How many calls a model server or a provider takes at once: `RUNNEL_MODEL_OLLAMA_MAX_CONCURRENT`.",
  },
  {
    name: "RUNNEL_MCP_<NAME>_COMMAND",
    meaning: "A program on this machine that MCP tools reach as `stdio:<name>`: a JSON array, or plain words.",
  },
  {
    name: "RUNNEL_MCP_<NAME>_ENV",
    meaning: "The names of variables that this program gets, with spaces or commas between them.",
  },
  {
    name: "RUNNEL_BACKUP_KEY",
    meaning: "Encrypts backups in a store: 64 hexadecimal digits.",
  },
  { name: "AWS_ACCESS_KEY_ID", meaning: "Opens the [store of backups](../operate/backup.md#keep-backups-elsewhere)." },
  {
    name: "BUN_CONFIG_MAX_HTTP_REQUESTS",
    meaning: "How many requests to models and tools may be under way at once: 16384 on Linux, 256 elsewhere.",
  },
  {
    name: "RUNNEL_HANDOVER",
    meaning:
      "The ports that a server hands to the process that [replaces it](../operate/upgrade.md#what-a-reload-does). Never set it yourself.",
  },
  {
    name: "RUNNEL_FAILPOINT",
    meaning: "A point at which the process ends itself, for tests of recovery. Never set it in service.",
  },
];
