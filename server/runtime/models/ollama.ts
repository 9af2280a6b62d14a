/** Ollama's default address. It is used like any OpenAI-compatible server. */
export const ollamaUrl = "http://127.0.0.1:11434/v1";

const patience_ms = 1000;

/** True if a server accepts connections at an address. Nothing is sent. */
export async function listensAt(address: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(address);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), patience_ms);
  const onConnect = (socket: { end(): void }) => {
    socket.end();
    resolve(true);
  };
  Bun.connect({
    hostname: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port) || (protocol === "https:" ? 443 : 80),
    socket: { open: onConnect, data() {}, error: () => resolve(false) },
  }).catch(() => resolve(false));
  return promise.finally(() => clearTimeout(timer));
}
