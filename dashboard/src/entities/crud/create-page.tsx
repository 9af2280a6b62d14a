import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { FormState } from "../../hooks/use-form.ts";
import { useTitle } from "../../hooks/use-title.ts";
import { Breadcrumb } from "../../ui/data/breadcrumb.tsx";
import { ModePill } from "../../ui/data/mode-pill.tsx";
import { ViewOnly } from "../../ui/data/view-only.tsx";
import { SheetHead } from "../../ui/dialogs/sheet.tsx";
import { SheetForm, SheetFormActs } from "../../ui/dialogs/sheet-form.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button, buttonClass } from "../../ui/forms/button.tsx";
import { usePermission } from "../session/use-may.ts";

/** Page with the form that creates an object. */
export function CreatePage({
  noun,
  many,
  form,
  body,
  children,
}: {
  noun: "agent" | "tool";
  /** Title of the list: “Agents”. */
  many: "Agents" | "Tools";
  form: FormState;
  /** Body of the creation request. */
  body: object;
  children: ReactNode;
}) {
  const may = usePermission("member");
  const list = `/${noun}s` as const;
  useTitle(`Create ${noun}`, many);
  return (
    <>
      <SheetHead>
        <Breadcrumb>
          <Link to={list}>{many}</Link>
        </Breadcrumb>
        <h1 className="text-lg">Create {noun}</h1>
        <ModePill />
        {!may && <ViewOnly />}
      </SheetHead>
      <SheetForm
        legend={`The new ${noun}`}
        disabled={!may}
        form={form}
        request={{ method: "POST", path: `/v1${list}`, body }}
        foot={
          <>
            <ErrorNote title={`The ${noun} was not created`} error={form.error} />
            <SheetFormActs>
              <Button type="submit" kind="primary" disabled={!may || form.isPending}>
                {form.isPending ? `Creating ${noun}` : `Create ${noun}`}
              </Button>
              <Link to={list} ignoreBlocker className={buttonClass({ kind: "ghost" })}>
                Discard
              </Link>
            </SheetFormActs>
          </>
        }
      >
        {children}
      </SheetForm>
    </>
  );
}
