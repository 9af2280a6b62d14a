/** Where Ollama listens when nobody says otherwise. It is reached as any OpenAI-compatible server. */
export const ollamaUrl = "http://127.0.0.1:11434/v1";
