import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { MemoryKey as KeyValue, Memory as Store } from "../../../../server/domain/api-types/memory.ts";
import { limits } from "../../../../server/domain/limits.ts";
import { readKey, storeApi, writeKey } from "../../entities/memory/memory-api.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { useForm } from "../../hooks/use-form.ts";
import { ApiError } from "../../lib/api.ts";
import { jsonText, readJson } from "../../lib/json-text.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { JsonView } from "../../ui/data/json-view.tsx";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { JsonField } from "../../ui/forms/json-field.tsx";
import { readSeconds } from "./memory-words.ts";

/** Sets a new key, or overwrites exactly the version that was read. A newer version is shown as a conflict. */
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
  const may = usePermission("member");
  const client = useQueryClient();
  const [newerVersion, setTheirs] = useState<KeyValue | null>(null);
  const baseRef = useRef(value);
  const base = baseRef.current;
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
      writeKey(at, placeOf(draft.key), bodyOf(draft), baseRef.current?.version ?? 0).catch(async (error) => {
        // If the key was deleted meanwhile, there is no newer version to show.
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
  const rebaseOnto = (next: KeyValue, change: Partial<typeof draft>) => {
    baseRef.current = next;
    setTheirs(null);
    set(change);
  };
  return (
    <FormDialog
      form={newerVersion ? { ...form, error: null } : form}
      onClose={onClose}
      wide
      title={value ? value.key : "Set key"}
      about={base ? `Version ${base.version}${of ? `, of ${of}` : ""}` : `In ${store.name}${of ? `, of ${of}` : ""}`}
      act={base ? `Overwrite version ${base.version}` : "Set key"}
      acting="Writing"
      ready={may && newerVersion === null}
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
      {newerVersion && (
        <Callout tone="warn" role="alert">
          <b>Someone saved version {newerVersion.version} meanwhile</b>
          <JsonView value={newerVersion.value} />
          <div className="mt-2 flex flex-wrap gap-2">
            <Button
              size="sm"
              onClick={() => {
                rebaseOnto(newerVersion, {});
                form.submit();
              }}
            >
              Keep mine, overwrite version {newerVersion.version}
            </Button>
            <Button size="sm" onClick={() => rebaseOnto(newerVersion, { value: jsonText(newerVersion.value) })}>
              Discard mine
            </Button>
          </div>
        </Callout>
      )}
    </FormDialog>
  );
}

const isConflict = (error: Error | null): boolean => error instanceof ApiError && error.code === "precondition_failed";
