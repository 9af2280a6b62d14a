import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { PriceTable } from "../../../../server/domain/api-types/console.ts";
import { loadPrices, pricesQuery, priceTableQuery, restorePrices } from "../../entities/server/server-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { plural } from "../../lib/format.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { toast, toastFailure } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";
import { Dropzone } from "../../ui/forms/dropzone.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { parseTable } from "./parse-table.ts";

interface Draft {
  url: string;
  file: { name: string; text: string } | null;
}

/** Form that replaces the table of list prices by a file or an address. */
export function UpdatePrices({ table, onClose }: { table: PriceTable; onClose: () => void }) {
  const client = useQueryClient();
  const refresh = () => Promise.all([client.invalidateQueries(pricesQuery), client.invalidateQueries(priceTableQuery)]);
  const form = useForm<Draft, PriceTable>({
    first: { url: "", file: null },
    check: ({ url, file }) => ({
      file: file && parseTable(file.text) === undefined ? "This file is not JSON." : null,
      url: file || /^https?:\/\/\S+$/.test(url.trim()) ? null : "An address that begins with https://.",
    }),
    send: ({ url, file }) => loadPrices(file ? { name: file.name, table: parseTable(file.text) } : { url: url.trim() }),
    onSent: async (loaded) => {
      await refresh();
      onClose();
      toast("Prices updated", `${plural(loaded.models, "model")} of ${loaded.as_of}`);
    },
  });
  const { file } = form.draft;
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title="Update prices"
      about="Replaces the list prices for all projects. Custom prices stay. Earlier runs keep their prices."
      act="Update prices"
      acting="Updating prices"
      ready={file !== null || form.draft.url.trim() !== ""}
      failed="The prices were not updated"
    >
      <CurrentTable table={table} onRestored={refresh} />
      <Dropzone
        label="Price table"
        text={file?.name ?? "Drop a JSON file here."}
        act={file ? "Choose another file" : "Choose file"}
        error={form.fieldErrors.file}
        onFiles={([chosen]) => {
          if (chosen) void chosen.text().then((text) => form.set({ file: { name: chosen.name, text } }));
        }}
      />
      <Field
        label="Or an address"
        hint="Fetched once, by the server."
        placeholder="https://example.com/prices.json"
        autoComplete="off"
        spellCheck={false}
        disabled={file !== null}
        {...form.text("url")}
      />
    </FormDialog>
  );
}

/** The table in force, and the way back from a loaded one. */
function CurrentTable({ table, onRestored }: { table: PriceTable; onRestored: () => Promise<unknown> }) {
  const [shown, setShown] = useState(table);
  const restoring = useMutation({
    mutationFn: restorePrices,
    onSuccess: async (restored) => {
      await onRestored();
      setShown(restored);
      toast("Built-in prices restored", `${plural(restored.models, "model")} of ${restored.as_of}`);
    },
    onError: (error) => toastFailure("The prices were not restored", error.message),
  });
  return (
    <div className="flex flex-wrap items-center justify-between gap-2 text-xs text-muted">
      <span className="wrap-anywhere">
        Now: {plural(shown.models, "model")} of {shown.as_of}, {shown.origin ? `from ${shown.origin}` : "built in"}.
      </span>
      {shown.source === "table" && (
        <Button size="sm" disabled={restoring.isPending} onClick={() => restoring.mutate()}>
          Restore built-in prices
        </Button>
      )}
    </div>
  );
}
