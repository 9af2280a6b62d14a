import { Dialog as Base } from "@base-ui/react/dialog";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { RefreshCw } from "lucide-react";
import { useRef, useState } from "react";
import type { Connection } from "../../../../server/domain/api-types/console.ts";
import { findModels } from "../../../../server/domain/find-models.ts";
import { type ModelKind, modelKinds } from "../../../../server/domain/listed-model.ts";
import { type Model, modelQueries, modelsQuery } from "../../entities/model/model-api.ts";
import { ModelFacts } from "../../entities/model/model-suggestions.tsx";
import { refreshModels } from "../../entities/model/refresh-models.ts";
import { connectionsQuery } from "../../entities/server/server-api.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { Time } from "../../ui/data/time.tsx";
import { DialogFoot, DialogShell } from "../../ui/dialogs/dialog-shell.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button, buttonClass } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { Select } from "../../ui/forms/select.tsx";

const kindWords: Record<ModelKind, string> = { chat: "For chats", embedding: "Embeddings", other: "Others" };

/** The models that a connection's server lists, with windows and prices, searched by any part of their names. */
export function ConnectionModels({ connection, onClose }: { connection: Connection; onClose: () => void }) {
  const client = useQueryClient();
  const may = usePermission("member");
  const [sought, setSought] = useState("");
  const [kind, setKind] = useState<ModelKind>("chat");
  const list = useQuery(modelsQuery(useWorkspace(), { connection: connection.prefix, kind }));
  const refreshing = useMutation({
    mutationFn: () => refreshModels(connection.name),
    onSettled: () => Promise.all([client.invalidateQueries(modelQueries), client.invalidateQueries(connectionsQuery)]),
  });
  const found = findModels(list.data?.data ?? [], sought);
  const state = connection.models;
  const isReading = refreshing.isPending || state?.reading === true;
  return (
    <Base.Root open onOpenChange={(next) => !next && onClose()}>
      <DialogShell wide>
        <Base.Title className="px-5 pt-5 text-lg wrap-anywhere">Models of {connection.name}</Base.Title>
        <Base.Description className="px-5 pt-0.5 text-muted">
          {state?.read_at ? (
            <>
              As its server listed them, <Time at={state.read_at} />.
            </>
          ) : (
            "Its server's list was not read yet."
          )}{" "}
          Agents may also use models that it does not list.
        </Base.Description>
        <div className="flex min-h-0 flex-col gap-4 px-5 pt-3 pb-5">
          <div className="flex flex-wrap items-end gap-3">
            <div className="min-w-40 flex-1">
              <Field
                label="Search models"
                type="search"
                value={sought}
                autoComplete="off"
                spellCheck={false}
                onChange={(event) => setSought(event.target.value)}
              />
            </div>
            <Select
              label="Kind"
              value={kind}
              choices={modelKinds.map((value) => ({ value, label: kindWords[value] }))}
              onChoose={setKind}
            />
            <Button disabled={!may || isReading} onClick={() => refreshing.mutate()}>
              <RefreshCw aria-hidden className="size-3.5" strokeWidth={1.5} />
              {isReading ? "Reading" : "Refresh"}
            </Button>
          </div>
          {state?.error && (
            <Callout tone="warn">
              {state.error.message}
              {state.error.detail && <p className="text-muted">{state.error.detail}</p>}
            </Callout>
          )}
          <ErrorNote title="The list was not refreshed" error={refreshing.error} />
          <ErrorNote title="The models cannot be shown" error={list.error} onRetry={() => void list.refetch()} />
          {list.data && (
            <p role="status" className="text-xs text-muted">
              {found.length === 0 ? emptyWords(sought) : plural(found.length, "model")}
            </p>
          )}
          {found.length > 0 && <ModelRows models={found} label={`Models of ${connection.name}`} />}
        </div>
        <DialogFoot>
          <Base.Close className={buttonClass()}>Close</Base.Close>
        </DialogFoot>
      </DialogShell>
    </Base.Root>
  );
}

const emptyWords = (sought: string): string =>
  sought.trim() ? `No model has “${sought.trim()}” in its name.` : "No model of this kind is known.";

const rowHeight_px = 36;

/** Rows of which only those in sight are rendered. The arrow keys scroll the list. */
function ModelRows({ models, label }: { models: readonly Model[]; label: string }) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: models.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight_px,
    getItemKey: (index) => models[index]!.id,
    overscan: 10,
  });
  return (
    <section
      ref={scroller}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys scroll it.
      tabIndex={0}
      className="max-h-96 min-h-0 overflow-y-auto rounded-md border border-line"
    >
      <ul className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ key, index, start }) => {
          const model = models[index]!;
          return (
            <li
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              aria-setsize={models.length}
              aria-posinset={index + 1}
              style={{ transform: `translateY(${start}px)` }}
              className="absolute inset-x-0 top-0 flex min-h-9 items-center gap-2.5 border-b border-line-soft px-3 py-1"
            >
              <span className="min-w-0 flex-1">
                <code className="text-xs wrap-anywhere">{model.id}</code>
                {model.name && <span className="block text-2xs text-muted">{model.name}</span>}
              </span>
              <ModelFacts model={model} />
              <CopyButton text={model.id} what={`the name ${model.id}`} />
            </li>
          );
        })}
      </ul>
    </section>
  );
}
