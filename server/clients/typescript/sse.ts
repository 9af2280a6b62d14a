/** An event of a stream as it is sent: `data` is still text. */
export interface Frame {
  event: string;
  id: string | null;
  data: string;
}

/** Server-sent events of a body, as the HTML standard has them. What a lost connection cut off is not an event. */
export async function* readFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let frame = empty();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      const lines = rest.split(/\r\n|\n|\r(?!$)/); // A CR at the end may have its LF in the next chunk.
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line === "") {
          if (frame.data.length > 0)
            yield { event: frame.event || "message", id: frame.id, data: frame.data.join("\n") };
          frame = empty();
          continue;
        }
        const [, field, value = ""] = /^([^:]*)(?:: ?([\s\S]*))?$/.exec(line) ?? [];
        if (field === "event") frame.event = value;
        else if (field === "data") frame.data.push(value);
        else if (field === "id") frame.id = value;
      }
    }
  } finally {
    await reader.cancel().catch(() => {}); // The reader of the events left, or the connection is lost already.
  }
}

const empty = (): { event: string; id: string | null; data: string[] } => ({ event: "", id: null, data: [] });
