import { Link, useNavigate } from "@tanstack/react-router";
import { type LucideIcon, Plus } from "lucide-react";
import type { ReactNode } from "react";
import { useKeys } from "../../hooks/use-keys.ts";
import { useTitle } from "../../hooks/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ModePill } from "../../ui/data/mode-pill.tsx";
import { ViewOnly } from "../../ui/data/view-only.tsx";
import { SheetHead } from "../../ui/dialogs/sheet.tsx";
import { Button, buttonClass } from "../../ui/forms/button.tsx";
import { usePermission } from "../session/use-may.ts";

/** Action that creates an object of a list: opens a dialog or a page. */
export interface Creation {
  /** Label: “Create agent”. */
  act: string;
  /** Label in the empty state: “Create the first agent”. */
  first?: string;
  icon?: LucideIcon;
  to?: "/agents/new" | "/tools/new";
  onCreate?: () => void;
}

/** Head of a list: title and create button (shortcut `c`). */
export function ListHead({ title, create, children }: { title: string; create?: Creation; children?: ReactNode }) {
  const at = useWorkspace();
  const may = usePermission("member");
  const navigate = useNavigate();
  const { to, icon: Icon = Plus, act, onCreate } = create ?? {};
  useTitle(title, at.project.name);
  useKeys({ c: () => (to ? void navigate({ to }) : onCreate?.()) }, may && create !== undefined);
  return (
    <SheetHead>
      <h1 className="text-lg">{title}</h1>
      <ModePill />
      <div className="ml-auto flex flex-wrap items-center justify-end gap-2">
        {children}
        {may && create && (
          <CreateAct create={create}>
            <Icon aria-hidden className="size-4" strokeWidth={1.5} />
            {act}
          </CreateAct>
        )}
        {!may && <ViewOnly />}
      </div>
    </SheetHead>
  );
}

/** The create button, used in the head and in the empty state. */
export function CreateAct({ create: { to, onCreate }, children }: { create: Creation; children: ReactNode }) {
  return to ? (
    <Link to={to} className={buttonClass({ kind: "primary" })}>
      {children}
    </Link>
  ) : (
    <Button kind="primary" onClick={onCreate}>
      {children}
    </Button>
  );
}
