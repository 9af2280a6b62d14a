import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { limits } from "../../../../server/core/limits.ts";
import type { MemoryKey as KeyValue, Memory as Store } from "../../../../server/wire/memory.ts";
import { readKey, storeApi, writeKey } from "../../entities/memory/memory-api.ts";
import { useMay } from "../../entities/session/use-may.ts";
import { ApiError } from "../../lib/api.ts";
import { jsonText, readJson } from "../../lib/json-text.ts";
import { useForm } from "../../lib/use-form.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { JsonField } from "../../ui/json-field.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { Note } from "../../ui/note.tsx";
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
  const [theirs, setTheirs] = useState<KeyValue | null>(null);
  const over = useRef(value);
  const base = over.current;
  const placeOf = (key: string) => ({ store: store.id, key, of });
  const bodyOf = (draft: { value: string; ttl_seconds: string }) => {
    const { seconds } = readSeconds(draft.ttl_seconds);
    return { value: readJson(draft.value).value, ...(seconds !== null && { ttl_seconds: seconds }) };
  };
  const form = useForm({
    first: () => ({ key: value?.key ?? "", value: value ? jsonText(value.value) : "", ttl_seconds: "" }),
    check: (draft) => ({
      key: draft.key === "" ? "Enter a name." : null,
      value: readJson(draft.value).fault,
      ttl_seconds: readSeconds(draft.ttl_seconds).fault,
    }),
    send: (draft) =>
      writeKey(at, placeOf(draft.key), bodyOf(draft), over.current?.version ?? 0).catch(async (error) => {
        // Somebody may have deleted it meanwhile: then there is nothing to show.
        if (isConflict(error)) setTheirs(await readKey(at, placeOf(draft.key)).catch(() => null));
        throw error;
      }),
    onSent: (saved) => {
      toast("Key set", `${saved.key} is at version ${saved.version}`);
      void client.invalidateQueries(storeApi.all(at));
      onClose();
    },
  });
  const { draft, text, set } = form;
  const take = (next: KeyValue, change: Partial<typeof draft>) => {
    over.current = next;
    setTheirs(null);
    set(change);
  };
  return (
    <FormDialog
      form={theirs ? { ...form, error: null } : form}
      onClose={onClose}
      wide
      title={value ? value.key : "Set key"}
      about={base ? `Version ${base.version}${of ? `, of ${of}` : ""}` : `In ${store.name}${of ? `, of ${of}` : ""}`}
      act={base ? `Overwrite version ${base.version}` : "Set key"}
      acting="Writing"
      ready={may && theirs === null}
      failed={isConflict(form.error) && base ? "The key was deleted meanwhile" : "The key was not set"}
      request={{
        method: "PUT",
        path: `/v1/memory/${store.id}/keys/${encodeURIComponent(draft.key || "key")}${of ? `?scope_id=${encodeURIComponent(of)}` : ""}`,
        body: bodyOf(draft),
      }}
    >
      {!value && (
        <Field label="Key" maxLength={limits.key_length} autoComplete="off" spellCheck={false} {...text("key")} />
      )}
      <JsonField
        label="Value"
        readOnly={!may}
        hint="Any JSON value, up to 100 KB. Put text in quotes."
        {...form.json("value")}
      />
      <Field
        label="Expires after, seconds"
        inputMode="numeric"
        placeholder={store.ttl_seconds === null ? "Keep indefinitely" : String(store.ttl_seconds)}
        {...text("ttl_seconds")}
      />
      {theirs && (
        <Note tone="warn" role="alert">
          <b>Someone saved version {theirs.version} meanwhile</b>
          <JsonView value={theirs.value} />
          <div className="mt-2 flex flex-wrap gap-2">
            <Button
              size="sm"
              onClick={() => {
                take(theirs, {});
                form.submit();
              }}
            >
              Keep mine, overwrite version {theirs.version}
            </Button>
            <Button size="sm" onClick={() => take(theirs, { value: jsonText(theirs.value) })}>
              Discard mine
            </Button>
          </div>
        </Note>
      )}
    </FormDialog>
  );
}

const isConflict = (error: Error | null): boolean => error instanceof ApiError && error.code === "precondition_failed";
