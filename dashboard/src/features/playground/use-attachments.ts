import { useState } from "react";
import type { MediaPart } from "../../../../server/domain/run-input.ts";
import { fileApi } from "../../entities/file/file-api.ts";
import { upload } from "../../entities/file/upload.ts";
import { useWorkspace } from "../../lib/workspace.ts";

/** A file that goes with the next message. */
export interface Attachment {
  key: string;
  filename: string;
  type: MediaPart["type"];
  /** Null while it is sent to the server. */
  file_id: string | null;
  error: string | null;
}

/** Files that go with the next message. Each is uploaded as soon as it is added. */
export function useAttachments() {
  const at = useWorkspace();
  const [all, setAll] = useState<readonly Attachment[]>([]);
  const change = (key: string, by: Partial<Attachment>) =>
    setAll((before) => before.map((one) => (one.key === key ? { ...one, ...by } : one)));

  function add(files: readonly File[]): void {
    for (const file of files) {
      const key = crypto.randomUUID();
      const type = typeOf(file.type);
      setAll((before) => [...before, { key, filename: file.name, type, file_id: null, error: null }]);
      upload(fileApi.url(at), file, { purpose: "attachment" }, () => {}, new AbortController().signal)
        .then(({ id, mime_type, filename }) => change(key, { file_id: id, type: typeOf(mime_type), filename }))
        .catch((error: Error) => change(key, { error: error.message }));
    }
  }

  return {
    all,
    add,
    remove: (key: string) => setAll((before) => before.filter((one) => one.key !== key)),
    clear: () => setAll([]),
    /** True while one of them cannot be sent. */
    isWaiting: all.some(({ file_id }) => file_id === null),
  };
}

export type Attachments = ReturnType<typeof useAttachments>;

const typeOf = (mimeType: string): MediaPart["type"] =>
  /^image\/(png|jpeg|webp|gif)$/.test(mimeType) ? "image" : /^audio\/(wav|mpeg)$/.test(mimeType) ? "audio" : "file";
