import { zipSync } from "fflate";

type Files = readonly (readonly [path: string, content: Uint8Array, ...rest: unknown[]])[];

/** Returns a zip of files by path, made in a thread of its own, because deflating takes a minute. */
export async function zipOf(files: Files): Promise<Uint8Array> {
  const thread = new Worker(import.meta.url);
  try {
    return await new Promise((resolve, reject) => {
      thread.onmessage = ({ data }: MessageEvent<Uint8Array>) => resolve(data);
      thread.onerror = ({ message }) => reject(new Error(message));
      thread.postMessage(files.map(([path, content]) => [path, content]));
    });
  } finally {
    thread.terminate();
  }
}

if (!Bun.isMainThread)
  self.onmessage = ({ data }: MessageEvent<[string, Uint8Array][]>) =>
    // A zip's times are local ones.
    self.postMessage(zipSync(Object.fromEntries(data), { level: 9, mtime: new Date(2000, 0, 1) }));
