import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { MemoryKey as KeyValue, Memory as Store } from "../../../../server/wire/memory.ts";
import { readKey, storeApi, writeKey } from "../../entities/memory/memory-api.ts";
import { useMay } from "../../entities/session/use-may.ts";
import { ApiError } from "../../lib/api.ts";
import { jsonText, readJson } from "../../lib/json-text.ts";
import { useChanged } from "../../lib/use-changed.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { JsonField } from "../../ui/json-field.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { Note } from "../../ui/note.tsx";
import { FoldedCode } from "../../ui/show-code.tsx";
import { toast } from "../../ui/toast.ts";
import { readSeconds } from "./memory-words.ts";

/** Sets a key, or writes another value: over the version that was read, and no other. */
export function KeyDialog({
  store,
  of,
  value,
  onClose,
}: {
  store: Store;
  of?: string;
  /** Null for a new key. */
  value: KeyValue | null;
  onClose: () => void;
}) {
  const at = useWorkspace();
  const may = useMay("member");
  const client = useQueryClient();
  const [base, setBase] = useState(value);
  const [key, setKey] = useState(value?.key ?? "");
  const [text, setText] = useState(value ? jsonText(value.value) : "");
  const [ttl, setTtl] = useState("");
  const [tried, setTried] = useState(false);
  const [theirs, setTheirs] = useState<KeyValue | null>(null);
  const read = readJson(text);
  const lifetime = readSeconds(ttl);
  const place = { store: store.id, key, of };
  const body = { value: read.value, ...(lifetime.seconds !== null && { ttl_seconds: lifetime.seconds }) };
  const writing = useMutation({
    mutationFn: (over: KeyValue | null) => writeKey(at, place, body, over?.version ?? 0),
    onSuccess: (saved) => {
      toast("Key written", `${saved.key} is at version ${saved.version}`);
      void client.invalidateQueries(storeApi.all(at));
      onClose();
    },
    onError: async (error) => {
      // Whoever deleted it meanwhile leaves nothing to show.
      if (isConflict(error)) setTheirs(await readKey(at, place).catch(() => null));
    },
  });
  const submit = () => {
    setTried(true);
    if (may && key !== "" && !read.fault && !lifetime.fault) writing.mutate(base);
  };
  const take = (next: KeyValue) => {
    setBase(next);
    setTheirs(null);
    writing.reset();
  };
  const conflict = isConflict(writing.error);
  const unsaved = useChanged([key, text, ttl]) && !writing.isPending;
  return (
    <FormDialog
      open
      unsaved={unsaved}
      wide
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
      title={value ? value.key : "Set key"}
      about={base ? `Version ${base.version}${of ? `, of ${of}` : ""}` : `In ${store.name}${of ? `, of ${of}` : ""}`}
      act={writing.isPending ? "Writing" : base ? `Write over version ${base.version}` : "Set key"}
      busy={writing.isPending || !may || theirs !== null}
      onSubmit={submit}
    >
      {!value && (
        <Field
          label="Key"
          value={key}
          maxLength={512}
          autoComplete="off"
          spellCheck={false}
          error={tried && key === "" ? "Give the key a name." : null}
          onChange={(event) => setKey(event.target.value)}
        />
      )}
      <JsonField
        label="Value"
        rows={8}
        readOnly={!may}
        hint="Any JSON, up to 100 KB. Text stands in quotes."
        value={text}
        fault={tried ? read.fault : null}
        onText={setText}
      />
      <Field
        label="Kept for, seconds"
        inputMode="numeric"
        placeholder={store.ttl_seconds === null ? "For ever" : String(store.ttl_seconds)}
        value={ttl}
        error={tried ? lifetime.fault : null}
        onChange={(event) => setTtl(event.target.value)}
      />
      {theirs && (
        <Note tone="warn" role="alert">
          <b>Somebody wrote version {theirs.version} meanwhile</b>
          <JsonView value={theirs.value} />
          <div className="mt-2 flex flex-wrap gap-2">
            <Button
              size="sm"
              onClick={() => {
                take(theirs);
                writing.mutate(theirs);
              }}
            >
              Keep mine, over version {theirs.version}
            </Button>
            <Button
              size="sm"
              onClick={() => {
                setText(jsonText(theirs.value));
                take(theirs);
              }}
            >
              Take theirs
            </Button>
          </div>
        </Note>
      )}
      {writing.error && !theirs && (
        <ErrorNote
          title={conflict && base ? "The key was deleted meanwhile" : "The key was not written"}
          error={writing.error}
        />
      )}
      <FoldedCode
        name="key"
        request={{
          method: "PUT",
          path: `/v1/memory/${store.id}/keys/${encodeURIComponent(key || "key")}${of ? `?scope_id=${encodeURIComponent(of)}` : ""}`,
          body,
        }}
      />
    </FormDialog>
  );
}

const isConflict = (error: Error | null): boolean => error instanceof ApiError && error.code === "precondition_failed";
