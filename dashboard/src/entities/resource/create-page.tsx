import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Sendable } from "../../lib/use-form.ts";
import { useTitle } from "../../lib/use-title.ts";
import { Breadcrumb } from "../../ui/breadcrumb.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { SheetForm, SheetFormActs } from "../../ui/sheet-form.tsx";
import { ViewOnly } from "../../ui/view-only.tsx";
import { useMay } from "../session/use-may.ts";

/** The page that makes a thing of many fields. */
export function CreatePage({
  noun,
  many,
  form,
  body,
  children,
}: {
  noun: "agent" | "tool";
  /** “Agents”: the title of their list. */
  many: "Agents" | "Tools";
  form: Sendable;
  /** Of the request that makes it. */
  body: object;
  children: ReactNode;
}) {
  const may = useMay("member");
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
