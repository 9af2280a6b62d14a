import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { fileApi } from "../../entities/file/file-api.ts";
import { type UploadFields, upload } from "../../entities/file/upload.ts";
import { useUnsaved } from "../../hooks/use-unsaved.ts";
import { resourceUrl } from "../../lib/api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { toast } from "../../ui/feedback/toast.ts";
import { localFault } from "./file-words.ts";

/** An upload that is queued, in progress or failed. */
export interface Upload {
  key: number;
  file: File;
  fields: UploadFields;
  sent: number;
  state: "waiting" | "sending" | "failed";
  error: Error | null;
}

const maxParallel = 2;

/** Uploads files, at most `atOnce` in parallel, and reports their progress. A finished upload leaves the list. */
export function useUploads() {
  const at = useWorkspace();
  const client = useQueryClient();
  const next = useRef(0);
  const running = useRef(new Map<number, AbortController>());
  const [uploads, setUploads] = useState<Upload[]>([]);
  const change = (key: number, part: Partial<Upload>) =>
    setUploads((all) => all.map((each) => (each.key === key ? { ...each, ...part } : each)));
  const drop = (key: number) => setUploads((all) => all.filter((each) => each.key !== key));

  const start = async ({ key, file, fields }: Upload) => {
    const abort = new AbortController();
    running.current.set(key, abort);
    change(key, { state: "sending" });
    try {
      await upload(resourceUrl(at, "/files"), file, fields, (sent) => change(key, { sent }), abort.signal);
      drop(key);
      toast("File uploaded", file.name);
      void client.invalidateQueries(fileApi.all(at));
    } catch (error) {
      if (abort.signal.aborted) drop(key);
      else change(key, { state: "failed", sent: 0, error: error instanceof Error ? error : new Error(String(error)) });
    } finally {
      running.current.delete(key);
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a change of the uploads may start another one.
  useEffect(() => {
    const waiting = uploads.filter(({ state, key }) => state === "waiting" && !running.current.has(key));
    for (const each of waiting.slice(0, maxParallel - running.current.size)) void start(each);
  }, [uploads]);
  // Ask before the page is left, because leaving aborts the uploads.
  useUnsaved(uploads.some(({ state }) => state !== "failed"));
  useEffect(() => {
    const all = running.current;
    return () => {
      for (const abort of all.values()) abort.abort();
    };
  }, []);

  return {
    uploads,
    add(files: readonly File[], fields: UploadFields) {
      const newUploads = files.map((file): Upload => {
        const fault = localFault(file);
        const key = ++next.current;
        return {
          key,
          file,
          fields,
          sent: 0,
          state: fault ? "failed" : "waiting",
          error: fault ? new Error(fault) : null,
        };
      });
      setUploads((all) => [...all, ...newUploads]);
    },
    again: (key: number) => change(key, { state: "waiting", error: null }),
    cancel(key: number) {
      running.current.get(key)?.abort();
      drop(key);
    },
  };
}
